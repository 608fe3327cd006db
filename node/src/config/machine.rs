//! What memory this process may use at all: the machine's, and the limit of the control group it runs in.

use std::path::{Path, PathBuf};

use crate::units::{KIB, TIB};

/// Sizes in bytes; None where the system does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MachineMemory {
    pub ram_bytes: Option<u64>,
    pub cgroup_limit_bytes: Option<u64>,
}

/// Asks the system.
pub fn detect() -> MachineMemory {
    let ram_bytes = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of_meminfo(&text));
    let membership = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limit_files(&membership).into_iter().filter_map(|path| std::fs::read_to_string(path).ok());
    MachineMemory { ram_bytes, cgroup_limit_bytes: limits.filter_map(|text| limit(&text)).min() }
}

fn total_of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(KIB)
}

/// The files that may hold a limit: those of the process's group and of all groups around it, for version 2
/// and version 1. In a container the group's path may be one that only the host sees; then the root of the
/// mounted tree is the container's own group.
fn limit_files(membership: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(hierarchy), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (mount, file) = if hierarchy == "0" && controllers.is_empty() {
            (Path::new("/sys/fs/cgroup"), "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (Path::new("/sys/fs/cgroup/memory"), "memory.limit_in_bytes")
        } else {
            continue;
        };
        let own = Path::new(group.trim_start_matches('/'));
        files.extend(own.ancestors().map(|ancestor| mount.join(ancestor).join(file)));
    }
    files
}

/// `max`, or version 1's way of saying so (a number near the largest), is no limit.
fn limit(text: &str) -> Option<u64> {
    text.trim().parse::<u64>().ok().filter(|bytes| *bytes < 1024 * TIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo() {
        assert_eq!(total_of_meminfo("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16 << 20));
        assert_eq!(total_of_meminfo("nothing"), None);
    }

    #[test]
    fn limits() {
        assert_eq!(limit("536870912\n"), Some(512 << 20));
        assert_eq!(limit("max\n"), None);
        assert_eq!(limit("9223372036854771712"), None);
    }

    #[test]
    fn groups_of_both_versions_up_to_the_root() {
        let paths = limit_files("0::/system.slice/bindery.service\n4:cpu:/\n");
        let expected = [
            "/sys/fs/cgroup/system.slice/bindery.service/memory.max",
            "/sys/fs/cgroup/system.slice/memory.max",
            "/sys/fs/cgroup/memory.max",
        ];
        assert_eq!(paths, expected.map(PathBuf::from));
        let first = limit_files("9:cpuset,memory:/docker/1\n");
        assert_eq!(first[0], PathBuf::from("/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes"));
    }
}
