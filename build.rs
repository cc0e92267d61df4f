//! Tells cargo to build again when a migration or the built page changes: both are embedded in the binary.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
    println!("cargo:rerun-if-changed=web/dist");
}
