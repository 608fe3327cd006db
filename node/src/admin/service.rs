//! The administration's calls: authorise, ask directory or cluster, answer.

use std::sync::Arc;
use std::time::Duration;

use bindery_directory::command::{ChangeKind, Operation, SetAdmin};
use bindery_directory::op::{configure, index_change, modify, schema_add};
use bindery_directory::{Identity, ReadView};
use bindery_model::dn::Dn;
use bindery_model::password::{MAX_CLEAR_BYTES, Scheme};
use bindery_proto::admin::{
    AddIndexesReply, AddIndexesRequest, AddSchemaReply, AddSchemaRequest, DumpReply, DumpRequest, IndexState,
    IndexStatus, ListIndexesReply, ListIndexesRequest, LoadReply, LoadRequest, NodeStatus, ReportRequest,
    SetPasswordReply, SetPasswordRequest, StatusReply, StatusRequest, TransferLeaderReply, TransferLeaderRequest,
    admin_server, peer_server,
};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::access::{self, Door};
use super::{Shared, convert, dump, load, status};
use crate::read::ReadLevel;
use crate::write::{self, Written};

/// Handing leadership over takes one election without a timeout.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(10);
/// How often it is looked whether the new leader is known.
const LOOK: Duration = Duration::from_millis(20);
/// Schema files of one call.
const SCHEMA_FILES_MAX: usize = 100;
/// Index definitions of one call.
const INDEXES_MAX: usize = 1_000;

/// What nodes ask each other.
pub struct PeerService {
    shared: Arc<Shared>,
}

impl PeerService {
    pub(super) fn new(shared: Arc<Shared>) -> PeerService {
        PeerService { shared }
    }
}

#[tonic::async_trait]
impl peer_server::Peer for PeerService {
    async fn report(&self, _request: Request<ReportRequest>) -> Result<Response<NodeStatus>, Status> {
        Ok(Response::new(status::own(&self.shared)))
    }
}

/// What the commands ask.
pub struct AdminService {
    shared: Arc<Shared>,
    door: Door,
}

impl AdminService {
    pub(super) fn new(shared: Arc<Shared>, door: Door) -> AdminService {
        AdminService { shared, door }
    }

    async fn authorise<T>(&self, request: &Request<T>) -> Result<(), Status> {
        let parts = &self.shared.parts;
        access::authorise(self.door, request, &parts.directory.view(), &parts.passwords).await
    }

    /// A view to prepare changes with: as new as can be had.
    async fn view(&self) -> Result<ReadView, Status> {
        let view = self.shared.parts.reads.view(ReadLevel::Prefer, 0).await;
        view.map_err(|error| Status::unavailable(format!("not applied: {error}")))
    }

    async fn write(&self, command: &bindery_directory::command::Command) -> Result<Written, Status> {
        write::write(&self.shared.parts.cluster, command).await.map_err(|error| convert::of_write(&error))
    }

    async fn hash(&self, clear: Vec<u8>) -> Result<Vec<u8>, Status> {
        let hashed = self.shared.parts.passwords.hash(Scheme::default(), clear).await;
        hashed.map_err(|error| Status::unavailable(format!("not applied: {error}")))
    }
}

#[tonic::async_trait]
impl admin_server::Admin for AdminService {
    async fn get_status(&self, request: Request<StatusRequest>) -> Result<Response<StatusReply>, Status> {
        self.authorise(&request).await?;
        Ok(Response::new(status::cluster(&self.shared, request.into_inner().local).await))
    }

    async fn transfer_leader(
        &self,
        request: Request<TransferLeaderRequest>,
    ) -> Result<Response<TransferLeaderReply>, Status> {
        self.authorise(&request).await?;
        let to = request.into_inner().to;
        let to = (!to.is_empty()).then_some(to);
        let cluster = &self.shared.parts.cluster;
        let before = cluster.status();
        let deadline = Instant::now() + TRANSFER_TIMEOUT;
        cluster.transfer_leader(to.as_deref(), deadline).await.map_err(|error| convert::of_change(&error))?;
        loop {
            let status = cluster.status();
            match status.leader_name {
                // Nothing was to be done, or the new leader is known here.
                Some(leader) if to.as_ref().is_some_and(|to| *to == leader) || status.term > before.term => {
                    return Ok(Response::new(TransferLeaderReply { leader }));
                }
                _ if Instant::now() >= deadline => {
                    return Err(Status::unknown(
                        "outcome unknown: the new leader is not known yet; see bindery status",
                    ));
                }
                _ => tokio::time::sleep(LOOK).await,
            }
        }
    }

    async fn add_schema(&self, request: Request<AddSchemaRequest>) -> Result<Response<AddSchemaReply>, Status> {
        self.authorise(&request).await?;
        let files = request.into_inner().files;
        if files.len() > SCHEMA_FILES_MAX {
            return Err(Status::invalid_argument(format!("at most {SCHEMA_FILES_MAX} schema files at once")));
        }
        // All of them are tried before the first is added.
        let view = self.view().await?;
        let mut schema = view.schema().as_ref().clone();
        let mut reply = AddSchemaReply::default();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        for file in &files {
            let added = schema
                .add_text(&file.text)
                .map_err(|error| Status::invalid_argument(format!("{}: {error}; nothing was added", file.name)))?;
            reply.attribute_types += count(added.attribute_types.len());
            reply.object_classes += count(added.object_classes.len());
            reply.present += count(added.unchanged);
        }
        for file in files {
            let view = self.shared.parts.reads.latest();
            let command = schema_add::prepare(&view, &Identity::Admin, file.text);
            let command = command.map_err(|error| convert::of_refusal(&error))?;
            self.write(&command).await?;
        }
        Ok(Response::new(reply))
    }

    async fn add_indexes(&self, request: Request<AddIndexesRequest>) -> Result<Response<AddIndexesReply>, Status> {
        self.authorise(&request).await?;
        let definitions = request.into_inner().indexes;
        if definitions.is_empty() || definitions.len() > INDEXES_MAX {
            return Err(Status::invalid_argument(format!("1 to {INDEXES_MAX} index definitions are expected")));
        }
        // All of them are tried before the first is added.
        let view = self.view().await?;
        let mut commands = Vec::with_capacity(definitions.len());
        let mut added = 0;
        for definition in &definitions {
            let types = convert::index_types(definition)?;
            let present = view
                .schema()
                .attribute(&definition.attribute)
                .and_then(|attribute| view.indexes().find(attribute.id))
                .map(|index| index.maintained())
                .unwrap_or_default();
            let missing = types.without(present);
            if missing.is_empty() {
                continue;
            }
            added += convert::index_kinds(missing).count();
            let command = index_change::prepare_add(&view, &Identity::Admin, &definition.attribute, missing);
            commands.push(command.map_err(|error| convert::of_refusal(&error))?);
        }
        for command in &commands {
            self.write(command).await?;
        }
        Ok(Response::new(AddIndexesReply { added: u32::try_from(added).unwrap_or(u32::MAX) }))
    }

    async fn list_indexes(&self, request: Request<ListIndexesRequest>) -> Result<Response<ListIndexesReply>, Status> {
        self.authorise(&request).await?;
        Ok(Response::new(ListIndexesReply { indexes: list_indexes(&self.view().await?) }))
    }

    async fn set_password(&self, request: Request<SetPasswordRequest>) -> Result<Response<SetPasswordReply>, Status> {
        self.authorise(&request).await?;
        let SetPasswordRequest { dn, password } = request.into_inner();
        if password.is_empty() || password.len() > MAX_CLEAR_BYTES {
            return Err(Status::invalid_argument(format!("a password has 1 to {MAX_CLEAR_BYTES} bytes")));
        }
        let view = self.view().await?;
        let name = Dn::parse(&dn).and_then(|name| name.normalize(view.schema()));
        let name = name.map_err(|error| Status::invalid_argument(format!("{dn}: {error}")))?;
        let hashed = self.hash(password.to_vec()).await?;
        let command = if view.settings().is_admin(&name) {
            configure::prepare(&Identity::Admin, Operation::SetAdmin(SetAdmin { dn: None, password: Some(hashed) }))
        } else {
            let changes = vec![(ChangeKind::Replace, "userPassword".to_owned(), vec![hashed])];
            modify::prepare(&view, &Identity::Admin, modify::ModifyRequest { dn, changes })
        };
        self.write(&command.map_err(|error| convert::of_refusal(&error))?).await?;
        Ok(Response::new(SetPasswordReply {}))
    }

    type LoadStream = ReceiverStream<Result<LoadReply, Status>>;

    async fn load(&self, request: Request<Streaming<LoadRequest>>) -> Result<Response<Self::LoadStream>, Status> {
        self.authorise(&request).await?;
        load::start(&self.shared, request.into_inner()).await.map(Response::new)
    }

    type DumpStream = ReceiverStream<Result<DumpReply, Status>>;

    async fn dump(&self, request: Request<DumpRequest>) -> Result<Response<Self::DumpStream>, Status> {
        self.authorise(&request).await?;
        let view = self.view().await?;
        dump::start(view, request.into_inner()).map(Response::new)
    }
}

/// Every index of every attribute, in the order of attribute names.
fn list_indexes(view: &ReadView) -> Vec<IndexStatus> {
    let mut listed = Vec::new();
    for index in view.indexes().iter() {
        let Some(attribute) = view.schema().attribute_by_id(index.attribute) else { continue };
        for kind in convert::index_kinds(index.maintained()) {
            let building = convert::index_kinds(index.building).any(|building| building == kind);
            listed.push(IndexStatus {
                attribute: attribute.name().to_owned(),
                kind: kind.into(),
                state: if building { IndexState::Building } else { IndexState::Ready }.into(),
                entries_done: building.then(|| index.next_id.saturating_sub(1)),
                entries_total: None,
            });
        }
    }
    // Kinds of one attribute are in order already, and the sort keeps that.
    listed.sort_by_key(|index| index.attribute.to_ascii_lowercase());
    listed
}
