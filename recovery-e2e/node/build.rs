//! The client's files are embedded; cargo does not see that by itself.
fn main() {
    println!("cargo:rerun-if-changed=../web/static");
}
