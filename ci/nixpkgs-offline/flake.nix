{
  description = "Replaces nixpkgs where there is no network: only the names that the flake uses";

  # It proves how the flake is wired, over this machine's own cargo and browser. It proves nothing
  # of the download, of the pinned hash, or of what nixpkgs itself builds.
  outputs =
    { self }:
    {
      lib = import ./lib.nix;
      legacyPackages = self.lib.genAttrs [
        "x86_64-linux"
        "aarch64-linux"
        "aarch64-darwin"
      ] (system: import ./packages.nix { inherit (self) lib; inherit system; });
    };
}
