//! Random operations against a simple model of the tree.

use super::*;
use crate::command::ChangeKind::Replace;
use proptest::prelude::*;

/// RDN values from the root downwards, below the naming context.
type Path = Vec<u8>;

#[derive(Debug, Clone)]
enum Step {
    Add(Path),
    Delete(Path),
    Describe(Path, u8),
    Move { path: Path, rdn: u8, delete_old: bool, superior: Option<Path> },
    Block(Vec<Path>),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Unit {
    names: BTreeSet<u8>,
    description: Option<u8>,
}

fn dn(path: &[u8]) -> String {
    let mut dn: String = path.iter().rev().map(|rdn| format!("ou=n{rdn},")).collect();
    dn.push_str("dc=example,dc=com");
    dn
}

#[derive(Default)]
struct Model(BTreeMap<Path, Unit>);

impl Model {
    fn exists(&self, path: &[u8]) -> bool {
        path.is_empty() || self.0.contains_key(path)
    }

    fn has_children(&self, path: &[u8]) -> bool {
        self.0.keys().any(|other| other.len() > path.len() && other.starts_with(path))
    }

    fn add(&mut self, path: &Path) -> Result<(), OpErrorKind> {
        if !self.exists(&path[..path.len() - 1]) {
            return Err(OpErrorKind::NoSuchObject);
        }
        if self.exists(path) {
            return Err(OpErrorKind::EntryAlreadyExists);
        }
        let unit = Unit { names: BTreeSet::from([path[path.len() - 1]]), description: None };
        self.0.insert(path.clone(), unit);
        Ok(())
    }

    fn apply(&mut self, step: &Step) -> Result<(), OpErrorKind> {
        match step {
            Step::Add(path) => self.add(path),
            Step::Block(paths) => {
                let before = self.0.clone();
                for path in paths {
                    if let Err(error) = self.add(path) {
                        self.0 = before;
                        return Err(error);
                    }
                }
                Ok(())
            }
            Step::Delete(path) => {
                if !self.exists(path) {
                    return Err(OpErrorKind::NoSuchObject);
                }
                if self.has_children(path) {
                    return Err(OpErrorKind::NotAllowedOnNonLeaf);
                }
                self.0.remove(path);
                Ok(())
            }
            Step::Describe(path, value) => {
                let unit = self.0.get_mut(path).ok_or(OpErrorKind::NoSuchObject)?;
                unit.description = Some(*value);
                Ok(())
            }
            Step::Move { path, rdn, delete_old, superior } => {
                if !self.exists(path) {
                    return Err(OpErrorKind::NoSuchObject);
                }
                let parent = superior.clone().unwrap_or_else(|| path[..path.len() - 1].to_vec());
                if !self.exists(&parent) {
                    return Err(OpErrorKind::NoSuchObject);
                }
                if superior.is_some() && parent.starts_with(path) {
                    return Err(OpErrorKind::UnwillingToPerform);
                }
                let mut target = parent;
                target.push(*rdn);
                if target != *path && self.exists(&target) {
                    return Err(OpErrorKind::EntryAlreadyExists);
                }
                let moved: Vec<Path> = self.0.keys().filter(|other| other.starts_with(path)).cloned().collect();
                for old in moved {
                    let mut unit = self.0.remove(&old).unwrap();
                    if old == *path {
                        if *delete_old {
                            unit.names.remove(&path[path.len() - 1]);
                        }
                        unit.names.insert(*rdn);
                    }
                    let mut new = target.clone();
                    new.extend_from_slice(&old[path.len()..]);
                    self.0.insert(new, unit);
                }
                Ok(())
            }
        }
    }
}

fn run(node: &mut Node, step: &Step) -> Result<(), OpErrorKind> {
    let result = match step {
        Step::Add(path) => node.add_ou(&dn(path)),
        Step::Delete(path) => node.delete(&dn(path)),
        Step::Describe(path, value) => {
            let text = format!("d{value}");
            node.modify(&dn(path), &[(Replace, "description", &[text.as_str()])])
        }
        Step::Move { path, rdn, delete_old, superior } => {
            let superior = superior.as_ref().map(|path| dn(path));
            node.rename(&dn(path), &format!("ou=N{rdn}"), *delete_old, superior.as_deref())
        }
        Step::Block(paths) => {
            let entries =
                paths.iter().map(|path| block_entry(&dn(path), &[("objectClass", &["organizationalUnit"])])).collect();
            node.run(op::add_block::prepare(&ADMIN, entries, ExistingMode::Error).unwrap())
        }
    };
    result.map(|_| ()).map_err(|error| error.kind)
}

fn compare(node: &Node, model: &Model) {
    assert_eq!(entries(&node.view()).len(), model.0.len() + 1);
    for (path, unit) in &model.0 {
        let dn = dn(path);
        let names: BTreeSet<u8> = node.values(&dn, "ou").iter().map(|name| name[1..].parse().unwrap()).collect();
        assert_eq!(names, unit.names, "{dn}");
        let description: Vec<String> = unit.description.iter().map(|value| format!("d{value}")).collect();
        assert_eq!(node.values(&dn, "description"), description, "{dn}");
    }
    for value in 0..3 {
        let count = model.0.values().filter(|unit| unit.description == Some(value)).count();
        assert_eq!(node.indexed("description", &format!("d{value}")), count as u64);
    }
}

fn path() -> impl Strategy<Value = Path> {
    proptest::collection::vec(0u8..3, 1..4)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => path().prop_map(Step::Add),
        1 => path().prop_map(Step::Delete),
        2 => (path(), 0u8..3).prop_map(|(path, value)| Step::Describe(path, value)),
        3 => (path(), 0u8..4, any::<bool>(), proptest::option::of(proptest::collection::vec(0u8..3, 0..3)))
            .prop_map(|(path, rdn, delete_old, superior)| Step::Move { path, rdn, delete_old, superior }),
        1 => proptest::collection::vec(path(), 1..4).prop_map(Step::Block),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_directory_behaves_as_the_model(steps in proptest::collection::vec(step(), 1..80)) {
        let mut node = Node::new();
        let mut model = Model::default();
        for step in &steps {
            prop_assert_eq!(run(&mut node, step), model.apply(step), "{:?}", step);
        }
        compare(&node, &model);
        node.check();
        // The same log at once.
        let folder = tempfile::tempdir().unwrap();
        let directory = open(folder.path());
        directory.apply(&node.log).unwrap();
        prop_assert_eq!(dump(&directory.view()), dump(&node.view()));
    }
}
