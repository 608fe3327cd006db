//! Opening: creating a file that is whole from its first moment, and choosing the checkpoint to go on from.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::cache::{Cache, Loaded};
use crate::checkpoint::Durable;
use crate::error::StoreError;
use crate::file::FileSystem;
use crate::layout::{BLOCK_BYTES, CHUNK_BLOCKS, FIXED_BLOCKS, REGION_BLOCKS};
use crate::meta::{self, Meta};
use crate::page::{self, PageKind};
use crate::space::map::{SpaceMap, extents_of};
use crate::space::{ReleasedVersions, Space};
use crate::store::{Shared, StoreOptions, WriterLock};
use crate::store_file::StoreFile;
use crate::version::{TreeRoot, Version};

/// Generations skipped at every open, so that pages of a lost future are never taken for new ones: more than the
/// transactions that can run between two checkpoints.
const SKIPPED_GENERATIONS: u64 = 1 << 24;

fn io(what: &'static str) -> impl Fn(std::io::Error) -> StoreError {
    move |source| StoreError::Io { what, source }
}

/// Opens or creates.
pub fn open(files: &dyn FileSystem, path: &Path, options: &StoreOptions) -> Result<Shared, StoreError> {
    if !files.exists(path).map_err(io("look for the file"))? {
        create(files, path)?;
    }
    let file = Arc::new(StoreFile::new(files.open(path, false).map_err(io("open"))?));
    let cache = Arc::new(Cache::new(options.arena_bytes, options.allocator, Arc::clone(&file))?);
    let found = recover(&file, &cache)?;

    let released: ReleasedVersions = Arc::default();
    let newest = found.newest.clone();
    let mut used = found.newest_words.clone();
    let mut only_older = Vec::new();
    let mut durable = vec![newest.generation];
    if let Some((older, words)) = &found.older {
        let mut difference = vec![0; used.len()];
        for (at, word) in words.iter().enumerate() {
            difference[at] = word & !used[at];
            used[at] |= word;
        }
        only_older = extents_of(&difference);
        durable.insert(0, older.generation);
    }
    let mut space =
        Space::new(SpaceMap::from_words(used), durable, Arc::clone(&file), Arc::clone(&cache), Arc::clone(&released));
    space.set_first_version(newest.generation);
    if let Some((older, _)) = &found.older {
        space.defer_at_open(&only_older, older.generation);
    }
    if let Some(roots) = found.staged {
        space.stage_at_open(roots);
    }
    cache.publish(newest.generation);
    let version = Version::new(newest.generation, newest.label.clone(), found.roots, Arc::clone(&released));
    let metas: Vec<Meta> = found.older.map(|(meta, _)| meta).into_iter().chain([newest.clone()]).collect();
    let labels = metas.iter().map(|meta| meta.label.clone()).collect();
    Ok(Shared {
        file,
        cache,
        space: Mutex::new(space),
        current: ArcSwap::from_pointee(version),
        writer: WriterLock::default(),
        checkpoint: Mutex::new(Durable { metas }),
        labels: Mutex::new(labels),
        last_generation: AtomicU64::new(newest.generation + SKIPPED_GENERATIONS),
        released,
    })
}

/// Makes an empty store beside its name and renames it, so that under its own name there is always a valid meta.
fn create(files: &dyn FileSystem, path: &Path) -> Result<(), StoreError> {
    let mut name = path.file_name().ok_or(StoreError::Options("the path has no file name"))?.to_os_string();
    name.push(".new");
    let temporary = path.with_file_name(name);
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut map = SpaceMap::default();
    map.extend(1);
    let meta = Meta { number: 0, generation: 0, blocks: CHUNK_BLOCKS, roots: None, trees: 0, label: Vec::new() };
    let file = StoreFile::new(files.open(&temporary, true).map_err(io("create"))?);
    // What an earlier attempt left is cut away.
    file.set_len(0)?;
    file.set_len(meta.blocks * BLOCK_BYTES as u64)?;
    file.write(meta.bitmap_block(0) * BLOCK_BYTES as u64, &meta::encode_bitmap(&meta, 0, map.words()))?;
    file.write(0, &meta.encode())?;
    file.sync()?;
    files.rename(&temporary, path).map_err(io("rename"))?;
    files.sync_dir(parent).map_err(io("sync the directory"))
}

/// The checkpoints found.
struct Found {
    newest: Meta,
    newest_words: Vec<u64>,
    roots: Vec<TreeRoot>,
    staged: Option<crate::layout::PagePtr>,
    older: Option<(Meta, Vec<u64>)>,
}

/// Chooses the newest meta whose roots and bitmaps verify.
fn recover(file: &StoreFile, cache: &Cache) -> Result<Found, StoreError> {
    let length = file.len()?;
    let mut metas: Vec<Meta> = Vec::new();
    let mut first_error = None;
    for slot in 0..2 {
        match read_meta(file, slot, length) {
            Ok(meta) => metas.push(meta),
            Err(error @ (StoreError::Corrupt { .. } | StoreError::Format(_))) => {
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    metas.sort_by_key(|meta| std::cmp::Reverse(meta.number));
    for (index, meta) in metas.iter().enumerate() {
        match read_checkpoint(file, cache, meta) {
            Ok((roots, words)) => {
                // The one before is a holder as long as it is whole itself.
                let older = match metas.get(index + 1) {
                    Some(older)
                        if older.number + 1 == meta.number
                            && older.blocks <= meta.blocks
                            && older.generation < meta.generation =>
                    {
                        match read_checkpoint(file, cache, older) {
                            Ok((_, words)) => Some((older.clone(), words)),
                            Err(StoreError::Corrupt { .. }) => None,
                            Err(error) => return Err(error),
                        }
                    }
                    _ => None,
                };
                let staged = meta.roots;
                return Ok(Found { newest: meta.clone(), newest_words: words, roots, staged, older });
            }
            Err(error @ StoreError::Corrupt { .. }) => {
                first_error.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    Err(first_error.unwrap_or(StoreError::Format("no meta block")))
}

fn read_meta(file: &StoreFile, slot: u64, length: u64) -> Result<Meta, StoreError> {
    if length < CHUNK_BLOCKS * BLOCK_BYTES as u64 {
        return Err(StoreError::Format("shorter than the shortest store"));
    }
    let mut bytes = vec![0; BLOCK_BYTES];
    file.read(slot * BLOCK_BYTES as u64, &mut bytes)?;
    let meta = Meta::decode(&bytes, slot)?;
    if meta.blocks * BLOCK_BYTES as u64 > length {
        return Err(StoreError::Corrupt { block: slot, what: "the file is shorter than its meta says" });
    }
    Ok(meta)
}

/// Reads roots and bitmaps of a checkpoint.
fn read_checkpoint(file: &StoreFile, cache: &Cache, meta: &Meta) -> Result<(Vec<TreeRoot>, Vec<u64>), StoreError> {
    let mut roots = Vec::new();
    if let Some(pointer) = meta.roots {
        let corrupt = |what| StoreError::Corrupt { block: pointer.block, what };
        if pointer.block + pointer.blocks() > meta.blocks {
            return Err(corrupt("roots page outside the file"));
        }
        let Loaded::Private(bytes) = cache.read_private(pointer)? else { return Err(corrupt("roots page")) };
        if page::kind(&bytes) != Some(PageKind::Roots) {
            return Err(corrupt("not a roots page"));
        }
        roots = TreeRoot::decode_all(page::payload(&bytes), pointer.block)?;
        if roots.len() != meta.trees as usize {
            return Err(corrupt("number of trees"));
        }
    }
    let mut words = Vec::with_capacity((meta.blocks / 64) as usize);
    let mut bytes = vec![0; BLOCK_BYTES];
    for region in 0..meta::regions(meta.blocks) {
        file.read(meta.bitmap_block(region) * BLOCK_BYTES as u64, &mut bytes)?;
        meta::decode_bitmap(&bytes, meta, region, &mut words)?;
        let fixed = (1 << FIXED_BLOCKS) - 1;
        if words[(region * REGION_BLOCKS / 64) as usize] & fixed != fixed {
            return Err(StoreError::Corrupt { block: meta.bitmap_block(region), what: "fixed blocks marked free" });
        }
    }
    Ok((roots, words))
}
