use super::*;

#[test]
fn shipped_schema_loads() {
    let schema = Schema::shipped();
    assert!(schema.attributes().count() > 200);
}

#[test]
fn scratch_openldap() {
    let mut schema = Schema::shipped();
    for file in std::env::var("SCHEMA_FILES").unwrap_or_default().split_whitespace() {
        loop {
            let text = std::fs::read_to_string(file).unwrap();
            match schema.add_text(&text) {
                Ok(added) => println!("{file}: {added:?}"),
                Err(error) => println!("{file}: {error}"),
            }
            break;
        }
    }
}
