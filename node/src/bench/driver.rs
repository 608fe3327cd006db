//! Runs the connections of a measurement and adds up what they saw.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bindery_wire::client::Response;

use super::Plan;
use super::client::{BenchError, Client};
use super::histogram::Histogram;
use super::workload::{Workload, name_of};

/// People whose DNs are looked up for loads that need them: enough that their pages are not all in a cache line.
const NAMES_MAX: u32 = 20_000;
/// Requests in flight while names are looked up.
const NAMES_BATCH: usize = 128;

/// What a measurement saw.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Operations answered, refused ones included.
    pub done: u64,
    /// Entries received.
    pub entries: u64,
    /// Operations answered by another code than success.
    pub refused: u64,
    /// The first of those.
    pub first_refusal: Option<String>,
    /// Latency of single requests.
    pub latency: Histogram,
    /// Time from the first request to the last answer.
    pub elapsed: Duration,
}

/// Connects, looks up what is needed, measures.
pub async fn run(plan: &Plan) -> Result<Outcome, BenchError> {
    let people = Arc::new(if plan.kind.needs_names() { names(plan).await? } else { Vec::new() });
    let mut clients = Vec::new();
    for number in 0..plan.connections {
        let server = &plan.servers[number as usize % plan.servers.len()];
        let mut client = Client::connect(server).await?;
        client.bind(&plan.user, &plan.password).await?;
        clients.push(client);
    }
    let began = Instant::now();
    let end = began + plan.duration;
    let mut tasks = Vec::new();
    for (number, client) in (0..).zip(clients) {
        let (plan, people) = (plan.clone(), people.clone());
        tasks.push(tokio::spawn(async move { drive(&plan, &people, number, client, end).await }));
    }
    let mut total = Outcome::default();
    for task in tasks {
        let one = task.await.map_err(|error| BenchError::Data(error.to_string()))??;
        total.done += one.done;
        total.entries += one.entries;
        total.refused += one.refused;
        total.first_refusal = total.first_refusal.or(one.first_refusal);
        total.latency.merge(&one.latency);
    }
    total.elapsed = began.elapsed();
    total.done /= u64::from(plan.kind.requests());
    Ok(total)
}

async fn drive(
    plan: &Plan,
    people: &[(u32, String)],
    number: u32,
    mut client: Client,
    end: Instant,
) -> Result<Outcome, BenchError> {
    let mut workload = Workload::new(plan.kind, &plan.base, people, plan.people, number);
    let mut outcome = Outcome::default();
    let mut sent: HashMap<i32, Instant> = HashMap::new();
    // Message ids 1 and below are the bind's.
    let mut next_id = 2;
    let mut wanted = plan.outstanding;
    loop {
        let now = Instant::now();
        if now < end {
            for _ in 0..wanted {
                workload.push(&mut client, next_id);
                sent.insert(next_id, now);
                next_id = if next_id == i32::MAX { 2 } else { next_id + 1 };
            }
            client.send().await?;
        }
        if sent.is_empty() {
            return Ok(outcome);
        }
        wanted = 0;
        client
            .receive(|message| match message.response.result() {
                None => outcome.entries += u64::from(matches!(message.response, Response::SearchEntry(_))),
                Some(result) => {
                    wanted += 1;
                    outcome.done += 1;
                    if result.code.0 != 0 {
                        outcome.refused += 1;
                        let diagnostic = String::from_utf8_lossy(result.diagnostic);
                        outcome.first_refusal.get_or_insert_with(|| format!("{} {diagnostic}", result.code.0));
                    }
                    if let Some(at) = sent.remove(&message.id) {
                        outcome.latency.record(u64::try_from(at.elapsed().as_micros()).unwrap_or(u64::MAX));
                    }
                }
            })
            .await?;
    }
}

/// DNs of people spread evenly over all of them.
async fn names(plan: &Plan) -> Result<Vec<(u32, String)>, BenchError> {
    let mut client = Client::connect(&plan.servers[0]).await?;
    client.bind(&plan.user, &plan.password).await?;
    let step = plan.people.div_ceil(NAMES_MAX).max(1);
    let numbers: Vec<u32> = (0..plan.people).step_by(step as usize).collect();
    let mut found = Vec::with_capacity(numbers.len());
    for batch in numbers.chunks(NAMES_BATCH) {
        for (id, number) in (2..).zip(batch) {
            client.push(id, &name_of(&plan.base, &format!("user.{number}"), &[b"1.1"]));
        }
        client.send().await?;
        let mut left = batch.len();
        while left > 0 {
            client
                .receive(|message| match &message.response {
                    Response::SearchEntry(entry) => {
                        let number = batch[message.id as usize - 2];
                        found.push((number, String::from_utf8_lossy(entry.dn).into_owned()));
                    }
                    Response::SearchDone(_) => left -= 1,
                    _ => {}
                })
                .await?;
        }
    }
    if found.is_empty() {
        return Err(BenchError::Data(format!(
            "no uid=user.N below {}: load the people of tests/tools/peons.py first, or see --base and --people",
            plan.base
        )));
    }
    Ok(found)
}
