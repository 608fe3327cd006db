//! The write transaction.

use std::sync::Arc;

use crate::btree::cursor::Cursor;
use crate::btree::node::ValueKind;
use crate::btree::pages::TxnPages;
use crate::btree::{insert, remove, search, value};
use crate::error::StoreError;
use crate::layout::{MAX_KEY_BYTES, MAX_LABEL_BYTES, MAX_TREES, MAX_VALUE_BYTES, PagePtr};
use crate::store::{Shared, TreeId, View};
use crate::tree_builder::TreeBuilder;
use crate::version::{TreeRoot, Version};

/// The one open write transaction. Sees its own writes. Dropped without [`WriteTxn::commit`], nothing has happened.
pub struct WriteTxn {
    pages: TxnPages,
    roots: Vec<TreeRoot>,
    /// A call failed half way: the trees in hand are not whole.
    failed: bool,
    committed: bool,
}

/// Refuses a key that no tree can hold.
pub fn check_key(key: &[u8]) -> Result<(), StoreError> {
    if key.is_empty() || key.len() > MAX_KEY_BYTES { Err(StoreError::KeySize(key.len())) } else { Ok(()) }
}

impl WriteTxn {
    pub(crate) fn new(shared: Arc<Shared>, generation: u64, roots: Vec<TreeRoot>) -> WriteTxn {
        WriteTxn { pages: TxnPages::new(shared, generation), roots, failed: false, committed: false }
    }

    fn find(&self, tree: TreeId) -> Result<usize, usize> {
        self.roots.binary_search_by_key(&tree.0, |root| root.tree)
    }

    fn root(&self, tree: TreeId) -> Option<PagePtr> {
        self.find(tree).ok().map(|index| self.roots[index].pointer)
    }

    fn usable(&self) -> Result<(), StoreError> {
        self.pages.shared().file.usable()?;
        if self.failed { Err(StoreError::TxnFailed) } else { Ok(()) }
    }

    /// Calls `read` with the value of `key`, seeing this transaction's writes. The closure must not block, nor read
    /// from the store (`Reentrant`).
    pub fn get<R>(&self, tree: TreeId, key: &[u8], read: impl FnMut(&[u8]) -> R) -> Result<Option<R>, StoreError> {
        self.usable()?;
        check_key(key)?;
        search::get(self.pages.cache(), self.root(tree), key, read)
    }

    /// A copy of the value of `key`, seeing this transaction's writes.
    pub fn get_vec(&self, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(tree, key, <[u8]>::to_vec)
    }

    /// A cursor over a tree, seeing this transaction's writes.
    pub fn cursor(&self, tree: TreeId) -> Cursor<'_> {
        Cursor::new(self.pages.cache(), self.root(tree))
    }

    /// The trees that have records.
    pub fn trees(&self) -> Vec<TreeId> {
        self.roots.iter().map(|root| TreeId(root.tree)).collect()
    }

    /// Runs a change; when it fails half way the transaction can only be dropped.
    fn change<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R, StoreError>) -> Result<R, StoreError> {
        self.usable()?;
        let result = work(self);
        self.pages.let_go();
        self.failed |= result.is_err();
        result
    }

    /// Inserts or replaces. `key` has 1 to 1,024 bytes, `value` up to 1 GiB; otherwise the call is refused and the
    /// transaction goes on. After any other error it can only be dropped.
    pub fn put(&mut self, tree: TreeId, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        check_key(key)?;
        if value.len() > MAX_VALUE_BYTES {
            return Err(StoreError::ValueSize(value.len()));
        }
        if self.find(tree).is_err() && self.roots.len() >= MAX_TREES {
            return Err(StoreError::TooManyTrees);
        }
        self.change(|txn| txn.put_checked(tree, key, value))
    }

    fn put_checked(&mut self, tree: TreeId, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let prepared = value::prepare(&mut self.pages, tree.0, value)?;
        self.pages.let_go();
        let index = match self.find(tree) {
            Ok(index) => index,
            Err(index) => {
                let root = insert::create_tree(&mut self.pages, tree.0)?;
                self.roots.insert(index, root);
                index
            }
        };
        let old = insert::insert(&mut self.pages, &mut self.roots[index], key, prepared.cell())?;
        let root = &mut self.roots[index];
        root.outside += u64::from(matches!(prepared, value::Prepared::Reference(..)));
        match old {
            None => root.records += 1,
            Some(old) => {
                root.outside -= u64::from(old.kind != ValueKind::Inline);
                value::free(&mut self.pages, old.kind, &old.reference, 0)?;
            }
        }
        Ok(())
    }

    /// Removes; answers whether the key was there.
    pub fn delete(&mut self, tree: TreeId, key: &[u8]) -> Result<bool, StoreError> {
        // Looked up first, so that deleting what is not there copies no page.
        if self.get(tree, key, |_| ())?.is_none() {
            return Ok(false);
        }
        self.change(|txn| {
            let index = txn.find(tree).map_err(|_| StoreError::TxnFailed)?;
            let (old, left) = remove::remove(&mut txn.pages, &mut txn.roots[index], key)?;
            let root = &mut txn.roots[index];
            root.records -= 1;
            root.outside -= u64::from(old.kind != ValueKind::Inline);
            if !left {
                txn.roots.remove(index);
            }
            value::free(&mut txn.pages, old.kind, &old.reference, 0)?;
            Ok(true)
        })
    }

    /// Removes a whole tree; nothing when it does not exist. Visits inner nodes, and leaves only if some value of the tree
    /// lies outside them.
    pub fn delete_tree(&mut self, tree: TreeId) -> Result<(), StoreError> {
        let Ok(index) = self.find(tree) else { return self.usable() };
        self.change(|txn| {
            let root = txn.roots.remove(index);
            remove::free_tree(&mut txn.pages, &root)
        })
    }

    /// Starts building a tree that has no records from sorted ones. Until it is finished the transaction counts as failed.
    pub fn build(&mut self, tree: TreeId) -> Result<TreeBuilder<'_>, StoreError> {
        self.usable()?;
        if self.find(tree).is_ok() {
            return Err(StoreError::TreeExists(tree.0));
        }
        if self.roots.len() >= MAX_TREES {
            return Err(StoreError::TooManyTrees);
        }
        self.failed = true;
        Ok(TreeBuilder::new(self, tree))
    }

    /// For the builder, which alone works on a transaction that counts as failed.
    pub(crate) fn building_pages(&mut self) -> Result<&mut TxnPages, StoreError> {
        self.pages.shared().file.usable()?;
        Ok(&mut self.pages)
    }

    /// Takes a finished tree in; the transaction is whole again.
    pub(crate) fn built(&mut self, root: Option<TreeRoot>) {
        self.failed = false;
        if let Some(root) = root {
            let index =
                self.find(TreeId(root.tree)).expect_err("build began without the tree, and holds the transaction");
            self.roots.insert(index, root);
        }
    }

    /// Publishes in memory, atomically; durable only after a checkpoint. The label has at most 256 bytes.
    pub fn commit(mut self, label: &[u8]) -> Result<View, StoreError> {
        self.usable()?;
        if label.len() > MAX_LABEL_BYTES {
            return Err(StoreError::LabelSize(label.len()));
        }
        let shared = Arc::clone(self.pages.shared());
        let generation = self.pages.generation();
        let roots = std::mem::take(&mut self.roots);
        let version = Arc::new(Version::new(generation, label.to_vec(), roots, Arc::clone(&shared.released)));
        shared.space.lock().commit(generation, self.pages.freed(), || {
            shared.cache.publish(generation);
            shared.current.store(Arc::clone(&version));
        });
        self.committed = true;
        Ok(View::new(Arc::clone(&shared), version))
    }
}

impl Drop for WriteTxn {
    fn drop(&mut self) {
        let shared = self.pages.shared();
        if !self.committed {
            shared.space.lock().abort();
        }
        shared.writer.release();
    }
}
