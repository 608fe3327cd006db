//! The async runtime given to openraft: tokio, with a seeded random number generator.
//!
//! openraft draws its election timeouts from the runtime's generator. Inside [`scope`] the draws follow
//! from one seed, through every task spawned below it, so that a simulated cluster repeats itself. Outside
//! (tasks that the gRPC server spawned) there is no seed; those draw from the operating system.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::time::Duration;

use futures_util::FutureExt;
use openraft::AsyncRuntime;
use openraft::OptionalSend;
use openraft::async_runtime::{Select2, Select3, Select4};
use openraft::impls::TokioRuntime;
use openraft_rt::deterministic_rng::DeterministicRng;

/// Used only for the type of its generator and to seed one.
type Seeder = DeterministicRng<TokioRuntime>;

tokio::task_local! {
    static SEED: Cell<u64>;
}

/// Runs `future` with all of openraft's randomness below it derived from `seed`.
pub(crate) fn scope<F: Future>(seed: u64, future: F) -> impl Future<Output = F::Output> {
    SEED.scope(Cell::new(seed), future)
}

/// One step of SplitMix64: every bit of the seed moves about half the bits of the result.
fn mix(seed: u64, gamma: u64) -> u64 {
    let mut z = seed.wrapping_add(gamma);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The task's next seed; two different constants keep a child's sequence apart from its parent's.
fn next_seed() -> Option<u64> {
    SEED.try_with(|cell| {
        let seed = cell.get();
        cell.set(mix(seed, 0x6a09_e667_f3bc_c908));
        mix(seed, 0x9e37_79b9_7f4a_7c15)
    })
    .ok()
}

#[derive(Debug)]
pub(crate) struct Runtime {
    inner: TokioRuntime,
}

impl AsyncRuntime for Runtime {
    type JoinError = <TokioRuntime as AsyncRuntime>::JoinError;
    type JoinHandle<T: OptionalSend + 'static> = <TokioRuntime as AsyncRuntime>::JoinHandle<T>;
    type Sleep = <TokioRuntime as AsyncRuntime>::Sleep;
    type Instant = <TokioRuntime as AsyncRuntime>::Instant;
    type TimeoutError = <TokioRuntime as AsyncRuntime>::TimeoutError;
    type Timeout<R, T: Future<Output = R> + OptionalSend> = <TokioRuntime as AsyncRuntime>::Timeout<R, T>;
    type ThreadLocalRng = <Seeder as AsyncRuntime>::ThreadLocalRng;
    type Mpsc = <TokioRuntime as AsyncRuntime>::Mpsc;
    type Watch = <TokioRuntime as AsyncRuntime>::Watch;
    type Oneshot = <TokioRuntime as AsyncRuntime>::Oneshot;
    type Mutex<T: OptionalSend + 'static> = <TokioRuntime as AsyncRuntime>::Mutex<T>;

    fn spawn<T>(future: T) -> Self::JoinHandle<T::Output>
    where
        T: Future + OptionalSend + 'static,
        T::Output: OptionalSend + 'static,
    {
        match next_seed() {
            Some(seed) => TokioRuntime::spawn(SEED.scope(Cell::new(seed), future)),
            None => TokioRuntime::spawn(future),
        }
    }

    fn sleep(duration: Duration) -> Self::Sleep {
        TokioRuntime::sleep(duration)
    }

    fn sleep_until(deadline: Self::Instant) -> Self::Sleep {
        TokioRuntime::sleep_until(deadline)
    }

    fn timeout<R, F: Future<Output = R> + OptionalSend>(duration: Duration, future: F) -> Self::Timeout<R, F> {
        TokioRuntime::timeout(duration, future)
    }

    fn timeout_at<R, F: Future<Output = R> + OptionalSend>(deadline: Self::Instant, future: F) -> Self::Timeout<R, F> {
        TokioRuntime::timeout_at(deadline, future)
    }

    fn select2<A, B>(a: A, b: B) -> impl Future<Output = Select2<A::Output, B::Output>> + OptionalSend
    where
        A: Future + OptionalSend,
        B: Future + OptionalSend,
    {
        TokioRuntime::select2(a, b)
    }

    fn select3<A, B, C>(
        a: A,
        b: B,
        c: C,
    ) -> impl Future<Output = Select3<A::Output, B::Output, C::Output>> + OptionalSend
    where
        A: Future + OptionalSend,
        B: Future + OptionalSend,
        C: Future + OptionalSend,
    {
        TokioRuntime::select3(a, b, c)
    }

    fn select4<A, B, C, D>(
        a: A,
        b: B,
        c: C,
        d: D,
    ) -> impl Future<Output = Select4<A::Output, B::Output, C::Output, D::Output>> + OptionalSend
    where
        A: Future + OptionalSend,
        B: Future + OptionalSend,
        C: Future + OptionalSend,
        D: Future + OptionalSend,
    {
        TokioRuntime::select4(a, b, c, d)
    }

    fn is_panic(join_error: &Self::JoinError) -> bool {
        TokioRuntime::is_panic(join_error)
    }

    fn thread_rng() -> Self::ThreadLocalRng {
        let seed = next_seed().unwrap_or_else(|| {
            let mut bytes = [0; 8];
            getrandom::fill(&mut bytes).expect("the operating system always has randomness once it has booted");
            u64::from_le_bytes(bytes)
        });
        // The generator's type belongs to a crate that this one does not name; its wrapper makes one.
        Seeder::scope(seed, async { Seeder::thread_rng() }).now_or_never().expect("the future never waits")
    }

    fn new(threads: usize) -> Self {
        Runtime { inner: TokioRuntime::new(threads) }
    }

    fn block_on<F, T>(&mut self, future: F) -> T
    where
        F: Future<Output = T>,
    {
        self.inner.block_on(future)
    }

    fn spawn_blocking<F, T>(f: F) -> impl Future<Output = Result<T, io::Error>> + Send
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        TokioRuntime::spawn_blocking(f)
    }
}
