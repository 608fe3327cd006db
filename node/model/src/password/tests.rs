use proptest::prelude::*;

use super::*;

const CLEAR: &str = "pässword";
const SALT16: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Made with Python's hashlib and crypt (libxcrypt), passlib, argon2-cffi and `openssl passwd`, from
/// [`CLEAR`] and salts of ascending bytes.
const KNOWN: &[&str] = &[
    "{SHA}I7dElEdfX4dJgLdnbVEeI9iG2mQ=",
    "{MD5}jhhDAzoPbuUuL2GKqOu+9A==",
    "{SHA256}NHgme1YSeRtAmIkGs6eJfrarUB4EuV7TL5nQr99mnZw=",
    "{SHA384}2/UOrrph58rmvmfMef4cEuPix7/+GprRvS88pxO41FikCtbioEeUGz1piAYerKcI",
    "{SHA512}KF3icbSeAO9oGc8Ku/AxXpfCXLo2FhZ8dw78Umxki03hH0sA3HH67TOjEse6g2kNPtFKqq32tiKqSJlv8H7IpA==",
    "{SSHA}hYqFwS2anJElbgJHQ8QDCKLrI2QAAQIDBAUGBw==",
    "{ssha}hYqFwS2anJElbgJHQ8QDCKLrI2QAAQIDBAUGBw",
    "{SMD5}MVMReJ7JsHqMZPGPu1yxKwABAgMEBQYH",
    "{SSHA256}L0kGWdUjGHyukRQq8500BpDR5izh+D5M/Ur3vlFLE/UAAQIDBAUGBw==",
    "{SSHA384}S0lzykDNTbZoXs4H1ajvK6JO6eGLRiQI4hNh19Zz4JmsMt+AzUitCeODjqUYPA+rAAECAwQFBgc=",
    "{SSHA512}jaGD5Gp5agyKt7wMo34dzHZHpeZgzfnnSpFilhvIuAB0JZ23miteMe1Dvi/dQvFyXKXkK5TXKQw7Sh0lPtwUZQABAgMEBQYH",
    "{PBKDF2}1000$AAECAwQFBgcICQoLDA0ODw$LXLUTXEwz3bsvdnCGyPh0mNzhGs",
    "{PBKDF2-SHA1}1000$AAECAwQFBgcICQoLDA0ODw==$LXLUTXEwz3bsvdnCGyPh0mNzhGs=",
    "{PBKDF2-SHA256}1000$AAECAwQFBgcICQoLDA0ODw$T0Z5wUqa/rr8kWb7KeLsnYrEP6Go8Ns.sglAvd4sSjw",
    "{PBKDF2-SHA256}1000$AAECAwQFBgcICQoLDA0ODw==$T0Z5wUqa/rr8kWb7KeLsnYrEP6Go8Ns+sglAvd4sSjw=",
    "{PBKDF2-SHA512}1000$AAECAwQFBgcICQoLDA0ODw$y/eRj2FwHgs6A0d8wKheOWOR5PjlKZUVEID5K8lrpY3fVCUnILd/a7SvXHROar5bA9d3J9zVifnM9vYjy0q8ZQ",
    "{PBKDF2-SHA512}1000$AAECAwQFBgcICQoLDA0ODw==$y/eRj2FwHgs6A0d8wKheOWOR5PjlKZUVEID5K8lrpY3fVCUnILd/a7SvXHROar5bA9d3J9zVifnM9vYjy0q8ZQ==",
    "{PBKDF2_SHA256}AAAIAAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj9cEJD6APLFEo7qXdxiFnDF29Odug8cwpvo6nrFa+FIJk+Ih0s/Wi8dBdv1MFXq6hrQ/KKdEtsz9lDfk3to00XxWzXzCawQwl5loI/rQST25Bgz147pvNFsLNy3uCIBQdmd6E7BGn320tnoYTjIGFb7W/czvdVFGRgPapPfCHf8U6aMzq7k+2TT9XZ6x4zTJCT+71DyibB9JCArfNqd2rfw3uwzLJkucr6Rr9XnO9EYhSpn9fXIn57JmtgAfJns8Jl0jlTD3v6CKUGeFZWVMxFKWrSzbhWgDRmMHYrCHorOgw149zWXfV9Ek9AdiriUQt18gp9Kj/+2FluFkP7bhjkb",
    "{ARGON2}$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$5/W87cqWDElP2gtnTIq/qDSP1zopANxZLonkobS2XWw",
    "{ARGON2}$argon2i$v=19$m=1024,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$cxxGGr8edzmQiQM3/SqCeysEEJjSR5T20pnO36vtQjo",
    "{ARGON2}$argon2d$v=19$m=1024,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$A2YrcDvwNHiiaVH30w/v1Tb4jRqFCUmP8rbzZ9bdcHo",
    "{CRYPT}$y$j9T$abcdefgh$yTxXz3ZVYDIZOpMdJiZWr6dgikUfVGDKBzw07PphSx3",
    "{CRYPT}$2b$05$abcdefghijklmnopqrstuucZGbUxuMlEqps0qcu2pjhO7vaatQZIC",
    "{CRYPT}$2a$05$abcdefghijklmnopqrstuucZGbUxuMlEqps0qcu2pjhO7vaatQZIC",
    "{CRYPT}$2y$05$abcdefghijklmnopqrstuucZGbUxuMlEqps0qcu2pjhO7vaatQZIC",
    "{CRYPT}$1$saltsalt$QgbQ7EUpcKNQTLgSVL4qr/",
    "{CRYPT}abRy4/6THFs9U",
    "{crypt}$5$rounds=2000$salty$/nWiKgLG5vq9mOpeTJj1sIRXf1qSdWWlW.uMdANGeP.",
    "{CRYPT}$5$salt./salt$nrXXdbbasRtabdIWfNonjfr5B1wrGnqPbKVF73m1Vi5",
    "{CRYPT}$6$saltsalt$rVIyJtXnL0mXUCLepstXWqeOv9JVyd7nOH8wn0BvOU5lCiAviUJLxXZ5CkPgq6XNTHV22yG4mV0IO9gqPL5WQ.",
    "{CRYPT}$6$rounds=1000$0123456789abcdef$GHZaz7cjHnv7MEmYmXLYG.GZD8XsXIkd1/jpyfrzWji3J3J/EhfUmV4lWFhj6CpLt8.LDkJOt0chIAT07I///1",
    "{CRYPT}_J9..abcdRQ8XjLM/uBY",
    "{CLEARTEXT}pässword",
    "pässword",
];

#[test]
fn known_answers() {
    for stored in KNOWN {
        assert_eq!(verify(stored.as_bytes(), CLEAR.as_bytes()), Verdict::Match, "{stored}");
        assert_eq!(verify(stored.as_bytes(), b"pAssword"), Verdict::Mismatch, "{stored}");
        assert_eq!(verify(stored.as_bytes(), b""), Verdict::Mismatch, "{stored}");
        assert_eq!(defect(stored.as_bytes()), None, "{stored}");
        assert_eq!(verify(stored.as_bytes(), &[b'x'; 5000]), Verdict::Mismatch, "{stored}");
    }
}

#[test]
fn a_changed_hash_does_not_match() {
    for stored in KNOWN {
        let mut changed = stored.as_bytes().to_vec();
        // The second last character: the last may hold bits that do not count.
        let at = changed.len() - 4;
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        assert_ne!(verify(&changed, CLEAR.as_bytes()), Verdict::Match, "{stored}");
    }
}

#[test]
fn unknown_expensive_malformed() {
    for (stored, expected) in [
        ("{SASL}user@realm", Verdict::UnknownScheme),
        ("{NS-MTA-MD5}x", Verdict::UnknownScheme),
        ("{CRYPT}$7$xyz", Verdict::UnknownScheme),
        ("{CRYPT}$sha1$1$x$y", Verdict::UnknownScheme),
        ("{CRYPT}*", Verdict::Malformed),
        ("{CRYPT}!", Verdict::Malformed),
        ("{CRYPT}", Verdict::Malformed),
        ("{CRYPT}pässword1234", Verdict::Malformed),
        ("{SSHA}", Verdict::Malformed),
        ("{SSHA}????", Verdict::Malformed),
        ("{SSHA}AAAA", Verdict::Malformed),
        ("{SHA}hYqFwS2anJElbgJHQ8QDCKLrI2QAAQIDBAUGBw==", Verdict::Malformed),
        ("{PBKDF2}1000$AAECAwQFBgcICQoLDA0ODw", Verdict::Malformed),
        ("{PBKDF2}0$AAECAwQFBgcICQoLDA0ODw$LXLUTXEwz3bsvdnCGyPh0mNzhGs", Verdict::Malformed),
        ("{PBKDF2}1000$AAEC$AAEC", Verdict::Malformed),
        ("{PBKDF2}10000001$AAECAwQFBgcICQoLDA0ODw$LXLUTXEwz3bsvdnCGyPh0mNzhGs", Verdict::TooExpensive),
        ("{PBKDF2}99999999999$AAECAwQFBgcICQoLDA0ODw$LXLUTXEwz3bsvdnCGyPh0mNzhGs", Verdict::TooExpensive),
        ("{PBKDF2_SHA256}AAAI", Verdict::Malformed),
        ("{ARGON2}$argon2id$v=19$m=65537,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$5/W87cqWDElP2gtnTIq/qA", Verdict::TooExpensive),
        (
            "{ARGON2}$argon2id$v=19$m=1024,t=100000,p=1$AAECAwQFBgcICQoLDA0ODw$5/W87cqWDElP2gtnTIq/qA",
            Verdict::TooExpensive,
        ),
        ("{ARGON2}$argon2id$v=19$m=1024,t=1,p=1$AAECAwQFBgcICQoLDA0ODw$5/W8", Verdict::Malformed),
        ("{ARGON2}$argon2id$v=19$m=1024,t=1,p=1$AA$5/W87cqWDElP2gtnTIq/qA", Verdict::Malformed),
        ("{ARGON2}$argon2x$v=19$m=1024,t=1,p=1$AA$5/W8", Verdict::UnknownScheme),
        ("{ARGON2}nothing", Verdict::Malformed),
        ("{CRYPT}$6$rounds=999999999$saltsalt$x", Verdict::TooExpensive),
        ("{CRYPT}$6$rounds=10$saltsalt$x", Verdict::Malformed),
        ("{CRYPT}$2b$17$abcdefghijklmnopqrstuucZGbUxuMlEqps0qcu2pjhO7vaatQZIC", Verdict::TooExpensive),
        ("{CRYPT}$2b$05$abc", Verdict::Malformed),
        ("{CRYPT}$y$jFT$abcdefgh$yTxXz3ZVYDIZOpMdJiZWr6dgikUfVGDKBzw07PphSx3", Verdict::TooExpensive),
        ("{CRYPT}$y$j9T/.$abcdefgh$yTxXz3ZVYDIZOpMdJiZWr6dgikUfVGDKBzw07PphSx3", Verdict::TooExpensive),
        ("{CRYPT}_zzzzabcdRQ8XjLM/uBY", Verdict::TooExpensive),
    ] {
        assert_eq!(verify(stored.as_bytes(), b"x"), expected, "{stored}");
    }
}

#[test]
fn schemes_and_costs() {
    assert_eq!(scheme_of(b"{SSHA}x"), Some("SSHA"));
    for clear in [&b"plain"[..], b"{", b"{}x", b"{no end", b"{sp ace}x", b""] {
        assert_eq!(scheme_of(clear), None);
        assert!(is_clear(clear));
        assert_eq!(verify(clear, clear), Verdict::Match);
    }
    assert!(is_clear(b"{CLEARTEXT}x"));
    assert_eq!(clear_of(b"{cleartext}x"), Some(&b"x"[..]));
    assert_eq!(cost_kib(&hash_argon2id(b"x", SALT16)), 19 << 10);
    assert_eq!(cost_kib(b"{CRYPT}$y$j9T$abcdefgh$yTxXz3ZVYDIZOpMdJiZWr6dgikUfVGDKBzw07PphSx3"), 16 << 10);
    assert_eq!(cost_kib(b"{SSHA}hYqFwS2anJElbgJHQ8QDCKLrI2QAAQIDBAUGBw=="), 0);
    assert!(!is_slow(b"{SSHA}hYqFwS2anJElbgJHQ8QDCKLrI2QAAQIDBAUGBw=="));
    assert!(is_slow(b"{CRYPT}abRy4/6THFs9U"));
}

#[test]
fn new_hashes() {
    let argon = hash_argon2id(CLEAR.as_bytes(), SALT16);
    assert!(KNOWN.iter().any(|known| known.as_bytes() == argon));
    assert_eq!(hash_ssha(CLEAR.as_bytes(), &SALT16[..8]), b"{SSHA}hYqFwS2anJElbgJHQ8QDCKLrI2QAAQIDBAUGBw==");
    for scheme in Scheme::ALL {
        assert_eq!(scheme.name().parse(), Ok(scheme));
        assert_eq!(scheme.name().to_lowercase().trim_matches(['{', '}']).parse(), Ok(scheme));
        for clear in [CLEAR.as_bytes(), b"{SSHA}x"] {
            let stored = scheme.hash(clear, SALT16);
            assert_eq!(verify(&stored, clear), Verdict::Match, "{scheme}");
            assert_eq!(verify(&stored, b"wrong"), Verdict::Mismatch, "{scheme}");
            assert_eq!(is_clear(&stored), scheme == Scheme::ClearText);
        }
        assert_ne!(scheme.hash(b"x", SALT16), b"");
    }
    assert_eq!("argon2id".parse(), Ok(Scheme::Argon2id));
    assert!("{NONE}".parse::<Scheme>().unwrap_err().to_string().contains("{SSHA512}"));
}

#[test]
fn a_nul_ends_no_password() {
    assert_eq!(verify(b"{CRYPT}xxj31ZMTZzkVA", b"password"), Verdict::Match);
    assert_eq!(verify(b"{CRYPT}xxj31ZMTZzkVA", b"password\0x"), Verdict::Mismatch);
}

proptest! {
    #[test]
    fn parsing_never_panics(scheme in prop::sample::select(&[
        "SSHA", "SHA", "PBKDF2", "PBKDF2_SHA256", "ARGON2", "CRYPT", "MD5", "x",
    ][..]), data in prop_oneof![
        "[$_][125y6]?[ab]?[$]?[./0-9a-z]{0,4}[$][./0-9A-Za-z$=,]{0,60}",
        "[0-9]{1,4}[$][A-Za-z0-9+/.]{0,30}[$][A-Za-z0-9+/.]{0,60}",
        ".{0,40}",
    ]) {
        let stored = format!("{{{scheme}}}{data}");
        let _ = (defect(stored.as_bytes()), cost_kib(stored.as_bytes()), scheme_of(stored.as_bytes()));
    }

    /// Whatever passes for cheap crypt values is verified without a panic.
    #[test]
    fn verifying_never_panics(data in prop_oneof![
        "[$]1[$][./0-9A-Za-z$]{0,40}",
        "[$][56][$][./0-9A-Za-z$]{0,99}",
        "[$]2[aby][$]04[$][./0-9A-Za-z$]{53}",
        "[$]y[$]j[./0-3][./0-3][$][./0-9A-Za-z]{0,22}[$][./0-9A-Za-z$]{0,43}",
        "_[./]{4}[./0-9A-Za-z]{15}",
        "[./0-9A-Za-z]{13}",
    ], clear in ".{0,80}") {
        let _ = verify(format!("{{CRYPT}}{data}").as_bytes(), clear.as_bytes());
    }
}
