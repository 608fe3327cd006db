//! What the directory says is durable.

use super::*;
use std::os::unix::fs::FileExt;

/// Found by a simulated cluster: a crash tore the newest checkpoint, and the node said that nothing was durable
/// although its log had been purged behind the checkpoint that was left.
#[test]
fn a_torn_checkpoint_leaves_the_one_before_as_durable() {
    let mut node = Node::new();
    assert_eq!(node.directory.durable().unwrap(), None);
    let mut checkpoints = Vec::new();
    for at in 0..3 {
        node.add_person(&format!("uid=p{at},dc=example,dc=com")).unwrap();
        node.directory.checkpoint().unwrap();
        checkpoints.push(node.directory.applied().unwrap());
    }
    assert_eq!(node.directory.durable().unwrap(), Some(checkpoints[1].clone()));
    let Node { folder, directory, .. } = node;
    drop(directory);
    // The third checkpoint's meta, number 3, is in the second slot.
    let path = crate::snapshot::store_path(folder.path());
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[0; 512], 4096).unwrap();
    let directory = open(folder.path());
    assert_eq!(directory.applied().unwrap(), checkpoints[1]);
    assert_eq!(directory.durable().unwrap(), Some(checkpoints[1].clone()));
}
