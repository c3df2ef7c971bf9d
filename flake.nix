{
  description = "Proves, in a real Chromium, that a streaming web application recovers";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { nixpkgs, ... }:
    let
      inherit (nixpkgs) lib;

      # The harness tracks processes through /proc, so it runs on Linux; elsewhere there is a shell.
      linux = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      systems = linux ++ [ "aarch64-darwin" ];

      each = names: outputs: lib.genAttrs names (system: outputs nixpkgs.legacyPackages.${system});

      filesOf =
        files:
        lib.fileset.toSource {
          root = ./.;
          fileset = lib.fileset.unions files;
        };

      # What a build reads: a change of anything else builds nothing again.
      read = [
        ./Cargo.toml
        ./Cargo.lock
        ./clippy.toml
        ./rustfmt.toml
        ./xtask
        ./recovery-e2e
      ];

      # The tests read the documentation, too.
      readByTests = read ++ [
        ./docs
        ./flake.nix
        ./flake.lock
        ./ci/timings.json
      ];

      # A cargo build of the workspace, from its lock file.
      cargo =
        pkgs: attributes:
        pkgs.rustPlatform.buildRustPackage (
          {
            src = filesOf read;
            version = (lib.importTOML ./Cargo.toml).workspace.package.version;
            cargoLock.lockFile = ./Cargo.lock;
            # The tests are a check of their own: whoever runs the suite need not wait for them.
            doCheck = false;
          }
          // attributes
        );

      # A check that ends well or not, and leaves nothing.
      check =
        pkgs: pname: attributes: command:
        cargo pkgs (
          {
            inherit pname;
            buildPhase = command;
            installPhase = "touch $out";
          }
          // attributes
        );

      features = "--features recovery-node/control";

      packagesOf =
        pkgs:
        let
          # All programs come from one build; the harness takes the node that lies beside it.
          recovery-e2e = cargo pkgs {
            pname = "recovery-e2e";
            cargoBuildFlags = [
              "--bin=recovery-e2e"
              "--bin=recovery-node"
              "--bin=recovery-node-control"
            ];
            buildFeatures = [ "recovery-node/control" ];
            meta.mainProgram = "recovery-e2e";
          };
          recovery-node = pkgs.runCommand "recovery-node" { meta.mainProgram = "recovery-node"; } ''
            mkdir -p $out/bin
            ln -s ${recovery-e2e}/bin/recovery-node $out/bin/
          '';
          # The harness with its browser, and with fonts: without any, Chromium complains.
          e2e = pkgs.writeShellApplication {
            name = "e2e";
            runtimeInputs = [ pkgs.bash ];
            text = ''
              if [ -z "''${E2E_BROWSER-}" ]; then
                export E2E_BROWSER=${lib.getExe pkgs.chromium} E2E_BROWSER_ORIGIN=nix
              fi
              export E2E_NODE="''${E2E_NODE:-${recovery-e2e}/bin/recovery-node-control}"
              export FONTCONFIG_FILE=${pkgs.makeFontsConf { fontDirectories = [ pkgs.dejavu_fonts ]; }}
              exec ${lib.getExe recovery-e2e} "$@"
            '';
          };
        in
        {
          inherit recovery-e2e recovery-node e2e;
          inherit (pkgs) chromium;
          default = e2e;
        };

      appsOf = pkgs: rec {
        e2e = {
          type = "app";
          program = lib.getExe (packagesOf pkgs).e2e;
          meta.description = "Runs the suite, as `cargo xtask e2e` does";
        };
        default = e2e;
      };

      checksOf = pkgs: {
        fmt = check pkgs "fmt" { nativeBuildInputs = [ pkgs.rustfmt ]; } "cargo fmt --all --check";
        clippy =
          check pkgs "clippy"
            {
              src = filesOf readByTests;
              nativeBuildInputs = [ pkgs.clippy ];
            }
            "cargo clippy --frozen --workspace --all-targets ${features} -- --deny warnings";
        unit = check pkgs "unit" { src = filesOf readByTests; } "cargo test --frozen --workspace --lib --bins ${features}";
        # Its output is the run's reports; when it fails, the build's log has the verdicts.
        e2e = pkgs.runCommand "e2e-check" { } ''
          export HOME=$TMPDIR XDG_CACHE_HOME=$TMPDIR/cache XDG_CONFIG_HOME=$TMPDIR/config
          ${lib.getExe (packagesOf pkgs).e2e} run --timings ${./ci/timings.json} --out $out
        '';
      };

      shellOf = pkgs: {
        default = pkgs.mkShell {
          packages = [
            pkgs.cargo
            pkgs.rustc
            pkgs.clippy
            pkgs.rustfmt
            pkgs.nodejs
          ];
        };
      };
    in
    {
      packages = each linux packagesOf;
      apps = each linux appsOf;
      checks = each linux checksOf;
      devShells = each systems shellOf;
      formatter = each systems (pkgs: pkgs.nixfmt-tree);
    };
}
