//! Who may administer: whoever opens the socket, and whoever knows the administrator's password.

use std::net::IpAddr;
use std::time::Duration;

use bindery_ctl::connect::{PASSWORD_METADATA, USER_METADATA};
use bindery_directory::ReadView;
use bindery_model::dn::Dn;
use tonic::metadata::MetadataMap;
use tonic::transport::server::TcpConnectInfo;
use tonic::{Request, Status};

use crate::passwords::Passwords;

/// A wrong password costs whoever tries this long.
const WRONG_PASSWORD_PAUSE: Duration = Duration::from_secs(1);

/// By which way a call came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// The socket in the data directory.
    Socket,
    /// The gRPC port.
    Tcp {
        /// Loopback needs no password.
        trust_loopback: bool,
    },
}

/// What a call offers.
#[derive(Debug, PartialEq, Eq)]
enum Offer {
    /// It may.
    Trusted,
    /// It may if this is the administrator's password.
    Credentials {
        user: String,
        password: Vec<u8>,
    },
    Nothing,
}

fn offer(door: Door, peer: Option<IpAddr>, metadata: &MetadataMap) -> Result<Offer, Status> {
    match door {
        Door::Socket => return Ok(Offer::Trusted),
        Door::Tcp { trust_loopback: true } if peer.is_some_and(|peer| peer.is_loopback()) => {
            return Ok(Offer::Trusted);
        }
        Door::Tcp { .. } => {}
    }
    let value = |name| metadata.get_bin(name).map(|value| value.to_bytes()).transpose();
    let malformed = |_| Status::invalid_argument("malformed credentials");
    match (value(USER_METADATA).map_err(malformed)?, value(PASSWORD_METADATA).map_err(malformed)?) {
        (Some(user), Some(password)) => {
            let user = String::from_utf8(user.to_vec()).map_err(|_| Status::invalid_argument("the DN is not UTF-8"))?;
            Ok(Offer::Credentials { user, password: password.to_vec() })
        }
        _ => Ok(Offer::Nothing),
    }
}

/// Lets the administrator pass.
pub async fn authorise<T>(
    door: Door,
    request: &Request<T>,
    view: &ReadView,
    passwords: &Passwords,
) -> Result<(), Status> {
    let peer = request.extensions().get::<TcpConnectInfo>().and_then(|info| info.remote_addr());
    let (user, password) = match offer(door, peer.map(|peer| peer.ip()), request.metadata())? {
        Offer::Trusted => return Ok(()),
        Offer::Nothing => {
            return Err(Status::unauthenticated("administration over TCP needs the administrator's password"));
        }
        Offer::Credentials { user, password } => (user, password),
    };
    let settings = view.settings();
    let is_admin = Dn::parse(&user)
        .ok()
        .and_then(|dn| dn.normalize(view.schema()).ok())
        .is_some_and(|name| settings.is_admin(&name));
    // The password is looked at in any case, so that the time does not tell who the administrator is.
    let stored = match settings.admin_password() {
        [] => Vec::new(),
        stored => vec![stored.to_vec()],
    };
    let matches = passwords.verify(stored, &password).await.map_err(|error| Status::unavailable(error.to_string()))?;
    if is_admin && matches {
        return Ok(());
    }
    tracing::warn!(peer = ?peer, "administration refused: wrong name or password");
    tokio::time::sleep(WRONG_PASSWORD_PAUSE).await;
    Err(Status::unauthenticated("this is not the administrator's name and password"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use tonic::metadata::MetadataValue;

    #[test]
    fn who_is_trusted() {
        let loopback = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let other = Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)));
        let none = MetadataMap::new();
        let mut both = MetadataMap::new();
        both.insert_bin(USER_METADATA, MetadataValue::from_bytes(b"cn=admin"));
        both.insert_bin(PASSWORD_METADATA, MetadataValue::from_bytes(b"x"));
        let (open, closed) = (Door::Tcp { trust_loopback: true }, Door::Tcp { trust_loopback: false });
        let credentials = || Offer::Credentials { user: "cn=admin".into(), password: b"x".to_vec() };
        let table = [
            (Door::Socket, None, &none, Offer::Trusted),
            (open, loopback, &none, Offer::Trusted),
            (open, other, &none, Offer::Nothing),
            (open, None, &none, Offer::Nothing),
            (closed, loopback, &none, Offer::Nothing),
            (closed, loopback, &both, credentials()),
            (closed, other, &both, credentials()),
        ];
        for (door, peer, metadata, expected) in table {
            assert_eq!(offer(door, peer, metadata).unwrap(), expected, "{door:?} {peer:?}");
        }
    }
}
