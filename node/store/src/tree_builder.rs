//! The handle that builds one tree from sorted records.

use crate::btree::build::Builder;
use crate::btree::value;
use crate::error::StoreError;
use crate::layout::MAX_VALUE_BYTES;
use crate::store::TreeId;
use crate::txn::{WriteTxn, check_key};

/// Builds one tree of the open transaction from records in the order of their keys: each page is written once and full.
/// Dropped without [`TreeBuilder::finish`], the transaction can only be dropped as well.
pub struct TreeBuilder<'t> {
    txn: &'t mut WriteTxn,
    builder: Builder,
    tree: TreeId,
    /// A push failed half way.
    broken: bool,
}

impl<'t> TreeBuilder<'t> {
    pub(crate) fn new(txn: &'t mut WriteTxn, tree: TreeId) -> TreeBuilder<'t> {
        TreeBuilder { txn, builder: Builder::new(tree.0), tree, broken: false }
    }

    /// Appends a record. A key that is not above the last one is refused with `KeyOrder`, a size out of bounds as by
    /// `put`, and the building may go on; after any other error the transaction can only be dropped.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        check_key(key)?;
        if value.len() > MAX_VALUE_BYTES {
            return Err(StoreError::ValueSize(value.len()));
        }
        if self.builder.last_key().is_some_and(|last| last >= key) {
            return Err(StoreError::KeyOrder);
        }
        if self.broken {
            return Err(StoreError::TxnFailed);
        }
        let result = self.push_checked(key, value);
        self.broken = result.is_err();
        result
    }

    fn push_checked(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let pages = self.txn.building_pages()?;
        let prepared = value::prepare(pages, self.tree.0, value);
        pages.let_go();
        self.builder.push(pages, key, prepared?.cell())
    }

    /// Puts the tree in place; without records there is none.
    pub fn finish(self) -> Result<(), StoreError> {
        let TreeBuilder { txn, builder, broken, .. } = self;
        if broken {
            return Err(StoreError::TxnFailed);
        }
        let root = builder.finish(txn.building_pages()?)?;
        txn.built(root);
        Ok(())
    }
}
