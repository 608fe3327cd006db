//! Generates the gRPC types with protox, a protobuf compiler in Rust, so that no `protoc` binary is needed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=bindery");
    let files = protox::compile(["bindery/raft.proto", "bindery/admin.proto"], ["."])?;
    let mut config = prost_build::Config::new();
    // `bytes` fields become bytes::Bytes: decoding copies nothing.
    config.bytes(["."]);
    tonic_prost_build::configure().compile_fds_with_config(files, config)?;
    Ok(())
}
