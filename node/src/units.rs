//! Byte sizes: constants, reading and writing.

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;
pub const TIB: u64 = 1 << 40;

/// Reads `134217728`, `128MiB`, `128 MiB`, `1GiB`, `64KiB`, and the short forms `128M`, `1G` with the same
/// (binary) meaning. None if it is none of these or too large.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => KIB,
        "m" | "mib" => MIB,
        "g" | "gib" => GIB,
        "t" | "tib" => TIB,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Writes a size with the largest unit that keeps it at 1 or more: `128 MiB`, `1.5 GiB`.
pub fn format_bytes(bytes: u64) -> String {
    let (factor, unit) = match bytes {
        TIB.. => (TIB, "TiB"),
        GIB.. => (GIB, "GiB"),
        MIB.. => (MIB, "MiB"),
        KIB.. => (KIB, "KiB"),
        _ => return format!("{bytes} B"),
    };
    if bytes.is_multiple_of(factor) {
        return format!("{} {unit}", bytes / factor);
    }
    // Tenths, computed without a float so that the text is exact.
    let tenths = u128::from(bytes) * 10 / u128::from(factor);
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes() {
        let table: &[(&str, Option<u64>)] = &[
            ("134217728", Some(128 * MIB)),
            ("128MiB", Some(128 * MIB)),
            (" 128 MiB ", Some(128 * MIB)),
            ("1g", Some(GIB)),
            ("64k", Some(64 * KIB)),
            ("2TiB", Some(2 * TIB)),
            ("128MB", None),
            ("MiB", None),
            ("-1", None),
            ("1.5GiB", None),
            ("", None),
            ("99999999999TiB", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse_bytes(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn writes_sizes() {
        for (bytes, text) in [(5, "5 B"), (128 * MIB, "128 MiB"), (GIB + GIB / 2, "1.5 GiB"), (1100, "1.0 KiB")] {
            assert_eq!(format_bytes(bytes), text);
        }
    }
}
