//! Reaching a node: its administration socket on this machine, or its gRPC address.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bindery_proto::admin::admin_client::AdminClient;
use clap::Args;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::metadata::MetadataValue;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use crate::error::CtlError;
use crate::password;

/// Where a node keeps its data unless told otherwise.
pub const DEFAULT_DATA: &str = "/var/lib/bindery";
/// Where a node's gRPC services listen unless told otherwise.
pub const DEFAULT_ENDPOINT: &str = "127.0.0.1:17389";
/// The DN of the administrator, in a call's metadata.
pub const USER_METADATA: &str = "bindery-user-bin";
/// The administrator's password, in a call's metadata.
pub const PASSWORD_METADATA: &str = "bindery-password-bin";

const DEFAULT_TIMEOUT_S: u64 = 30;
/// A node that is up accepts a connection at once; the next endpoint is tried after this.
const CONNECT_TIMEOUT_MAX: Duration = Duration::from_secs(3);
/// Replies carry at most a chunk of LDIF; leave room for long schema texts and index lists.
const MESSAGE_MAX_BYTES: usize = 16 << 20;

/// The administration socket in a node's data directory.
pub fn socket_path(data: &Path) -> PathBuf {
    data.join("admin.sock")
}

/// How to reach the cluster.
#[derive(Debug, Clone, Default, Args)]
pub struct ConnectArgs {
    /// Data directory of a node on this machine, whose admin.sock is used
    /// [env: BINDERY_DATA] [default: /var/lib/bindery]
    #[arg(long, global = true, help_heading = "Connection", value_name = "DIR", verbatim_doc_comment)]
    pub data: Option<PathBuf>,
    /// gRPC addresses of nodes, tried in turn; without --data the socket is not tried
    /// [env: BINDERY_ENDPOINTS] [default: 127.0.0.1:17389]
    #[arg(
        long,
        global = true,
        help_heading = "Connection",
        value_name = "HOST:PORT[,...]",
        value_delimiter = ',',
        verbatim_doc_comment
    )]
    pub endpoint: Vec<String>,
    /// DN of the administrator, needed with --endpoint
    #[arg(
        long,
        global = true,
        help_heading = "Connection",
        value_name = "DN",
        env = "BINDERY_USER",
        requires = "password_file"
    )]
    pub user: Option<String>,
    /// File that holds the administrator's password; "-" reads standard input
    #[arg(long, global = true, help_heading = "Connection", value_name = "FILE", env = "BINDERY_PASSWORD_FILE")]
    pub password_file: Option<PathBuf>,
    /// Seconds to wait for a node's answer [default: 30]
    #[arg(long, global = true, help_heading = "Connection", value_name = "SECONDS", env = "BINDERY_TIMEOUT",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,
}

/// One way to a node.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Socket(PathBuf),
    Address(String),
}

impl std::fmt::Display for Target {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Socket(path) => write!(out, "{}", path.display()),
            Target::Address(address) => out.write_str(address),
        }
    }
}

/// What the environment adds to the flags.
struct Surroundings {
    data: Option<PathBuf>,
    endpoints: Option<String>,
}

/// The ways to try, in order. What was said on the command line is meant: a socket that merely happens to
/// exist must not take precedence over an endpoint that was asked for, nor an unrelated node on the default
/// port answer for a data directory.
fn targets(args: &ConnectArgs, surroundings: Surroundings) -> Vec<Target> {
    let socket = |data: &Path| Target::Socket(socket_path(data));
    let addresses = |list: &[String]| -> Vec<Target> {
        list.iter()
            .map(|text| text.trim())
            .filter(|text| !text.is_empty())
            .map(|text| Target::Address(text.into()))
            .collect()
    };
    let mut targets = Vec::new();
    match (&args.data, args.endpoint.is_empty()) {
        (Some(data), true) => targets.push(socket(data)),
        (Some(data), false) => {
            targets.push(socket(data));
            targets.extend(addresses(&args.endpoint));
        }
        (None, false) => targets.extend(addresses(&args.endpoint)),
        (None, true) => {
            targets.push(socket(surroundings.data.as_deref().unwrap_or(Path::new(DEFAULT_DATA))));
            let list = surroundings.endpoints.unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned());
            targets.extend(addresses(&list.split(',').map(str::to_owned).collect::<Vec<_>>()));
        }
    }
    targets
}

/// The administrator's name and password, sent with every call.
#[derive(Clone, Default)]
pub struct Credentials(Option<(Vec<u8>, Vec<u8>)>);

impl Interceptor for Credentials {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some((user, password)) = &self.0 {
            let metadata = request.metadata_mut();
            metadata.insert_bin(USER_METADATA, MetadataValue::from_bytes(user));
            metadata.insert_bin(PASSWORD_METADATA, MetadataValue::from_bytes(password));
        }
        Ok(request)
    }
}

/// A client with its credentials.
pub type Client = AdminClient<InterceptedService<Channel, Credentials>>;

/// A connected node.
pub struct Connection {
    pub client: Client,
    /// What was reached, for messages.
    pub target: String,
    /// How long an answer may take.
    pub timeout: Duration,
}

impl Connection {
    /// A request with this connection's deadline.
    pub fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.set_timeout(self.timeout);
        request
    }
}

impl ConnectArgs {
    fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(DEFAULT_TIMEOUT_S))
    }

    fn credentials(&self) -> Result<Credentials, CtlError> {
        match (&self.user, &self.password_file) {
            (Some(user), Some(file)) => Ok(Credentials(Some((user.clone().into_bytes(), password::from_file(file)?)))),
            (Some(_), None) => Err(CtlError::Usage("--user needs --password-file".into())),
            _ => Ok(Credentials(None)),
        }
    }

    /// Connects to the first node that answers.
    ///
    /// # Errors
    /// Lists every way that was tried, with what became of it.
    pub async fn connect(&self) -> Result<Connection, CtlError> {
        let credentials = self.credentials()?;
        let timeout = self.timeout();
        let surroundings = Surroundings {
            data: std::env::var_os("BINDERY_DATA").filter(|text| !text.is_empty()).map(PathBuf::from),
            endpoints: std::env::var("BINDERY_ENDPOINTS").ok().filter(|text| !text.is_empty()),
        };
        let mut failures = String::new();
        for target in targets(self, surroundings) {
            match dial(&target, timeout.min(CONNECT_TIMEOUT_MAX)).await {
                Ok(channel) => {
                    let client = AdminClient::with_interceptor(channel, credentials)
                        .max_decoding_message_size(MESSAGE_MAX_BYTES)
                        .max_encoding_message_size(MESSAGE_MAX_BYTES);
                    return Ok(Connection { client, target: target.to_string(), timeout });
                }
                Err(why) => failures.push_str(&format!("\n  {target}: {why}")),
            }
        }
        Err(CtlError::Unreachable(format!(
            "no node was reached:{failures}\nis it running? name another with --endpoint HOST:PORT, or its data directory with --data DIR"
        )))
    }
}

async fn dial(target: &Target, timeout: Duration) -> Result<Channel, String> {
    let connecting = async {
        match target {
            Target::Socket(path) => dial_socket(path.clone()).await,
            Target::Address(address) => {
                let endpoint = Endpoint::from_shared(format!("http://{address}"))
                    .map_err(|_| "not HOST:PORT, as in 127.0.0.1:17389".to_owned())?;
                endpoint.tcp_nodelay(true).connect().await.map_err(|error| cause(&error))
            }
        }
    };
    match tokio::time::timeout(timeout, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(format!("no answer within {} s", timeout.as_secs())),
    }
}

async fn dial_socket(path: PathBuf) -> Result<Channel, String> {
    // The authority is needed by HTTP/2 and means nothing on a socket.
    let endpoint = Endpoint::from_static("http://admin.sock");
    let connector = tower::service_fn(move |_| {
        let path = path.clone();
        async move { UnixStream::connect(path).await.map(TokioIo::new) }
    });
    endpoint.connect_with_connector(connector).await.map_err(|error| cause(&error))
}

/// The innermost cause: "Connection refused" says more than "transport error".
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    match innermost.downcast_ref::<std::io::Error>().map(std::io::Error::kind) {
        Some(std::io::ErrorKind::NotFound) => "no such socket".to_owned(),
        Some(std::io::ErrorKind::ConnectionRefused) => "nobody listens there".to_owned(),
        Some(std::io::ErrorKind::PermissionDenied) => {
            "permission denied; run the command as the user of the node".to_owned()
        }
        _ => innermost.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(data: Option<&str>, endpoint: &[&str], env: (Option<&str>, Option<&str>)) -> Vec<String> {
        let args = ConnectArgs {
            data: data.map(PathBuf::from),
            endpoint: endpoint.iter().map(|text| (*text).to_owned()).collect(),
            ..ConnectArgs::default()
        };
        let surroundings = Surroundings { data: env.0.map(PathBuf::from), endpoints: env.1.map(str::to_owned) };
        targets(&args, surroundings).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_tried_and_in_which_order() {
        let default = ["/var/lib/bindery/admin.sock", "127.0.0.1:17389"];
        assert_eq!(listed(None, &[], (None, None)), default);
        assert_eq!(listed(None, &[], (Some("/d"), Some("a:1,b:2"))), ["/d/admin.sock", "a:1", "b:2"]);
        assert_eq!(listed(Some("/x"), &[], (Some("/d"), Some("a:1"))), ["/x/admin.sock"]);
        assert_eq!(listed(None, &["a:1", " b:2", ""], (Some("/d"), None)), ["a:1", "b:2"]);
        assert_eq!(listed(Some("/x"), &["a:1"], (None, None)), ["/x/admin.sock", "a:1"]);
    }

    #[tokio::test]
    async fn an_unreachable_cluster_is_reported_with_every_way_tried() {
        let dir = tempfile::tempdir().unwrap();
        let args = ConnectArgs {
            data: Some(dir.path().to_owned()),
            endpoint: vec!["127.0.0.1:1".into(), "not an address".into()],
            ..ConnectArgs::default()
        };
        let Err(error) = args.connect().await else { panic!("connected to nothing") };
        assert_eq!(error.exit_status(), 3);
        let text = error.to_string();
        assert!(text.contains("admin.sock: no such socket"), "{text}");
        assert!(text.contains("127.0.0.1:1: nobody listens there"), "{text}");
        assert!(text.contains("not an address: not HOST:PORT"), "{text}");
    }
}
