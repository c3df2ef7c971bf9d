{ lib, system }:
let
  inherit (builtins) concatStringsSep getEnv;

  # Builds run outside of any sandbox, on what `cargo xtask flake-check` says of this machine.
  machine =
    name:
    let
      value = getEnv name;
    in
    if value == "" then throw "${name} is not set: `cargo xtask flake-check` sets it" else value;

  # As nixpkgs does: the script runs with `$out` to make, and ends at the first failure.
  run =
    name: attributes: script:
    let
      made = derivation (
        {
          inherit name system;
          PATH = machine "FLAKE_CHECK_PATH";
          builder = "/bin/bash";
          # Nix 2.8 now and then kills a builder whose last command is a program: hence the colon.
          args = [
            "-euo"
            "pipefail"
            "-c"
            "${script}\n:\n"
          ];
        }
        // removeAttrs attributes [ "meta" ]
      );
    in
    made // { meta = attributes.meta or { }; };

  folder = name: run name { } "mkdir $out";

  onLinux =
    package: if lib.hasSuffix "-linux" system then package else throw "nixpkgs has no Chromium for ${system}";
in
{
  bash = folder "bash";
  cargo = folder "cargo";
  clippy = folder "clippy";
  dejavu_fonts = folder "dejavu-fonts";
  nixfmt-tree = folder "nixfmt-tree";
  nodejs = folder "nodejs";
  rustc = folder "rustc";
  rustfmt = folder "rustfmt";

  chromium = onLinux (
    run "chromium" { meta.mainProgram = "chromium"; } ''
      mkdir -p $out/bin
      ln -s ${machine "FLAKE_CHECK_BROWSER"} $out/bin/chromium
    ''
  );

  makeFontsConf = { fontDirectories }: run "fonts.conf" { inherit fontDirectories; } "cp /etc/fonts/fonts.conf $out";

  mkShell = { packages }: run "shell" { inherit packages; } "mkdir $out";

  runCommand = run;

  writeShellApplication =
    {
      name,
      runtimeInputs,
      text,
    }:
    run name
      {
        inherit runtimeInputs text;
        passAsFile = [ "text" ];
        meta.mainProgram = name;
      }
      ''
        mkdir -p $out/bin
        { printf '%s\n' '#!/bin/bash' 'set -euo pipefail'; cat $textPath; } > $out/bin/${name}
        chmod +x $out/bin/${name}
      '';

  # One target folder for all builds, and in it one copy of the sources in which only what differs
  # is written: so the packages and the checks share what cargo has built before. It is no part of
  # the machine's own: cargo would take what it built here for that of the checkout.
  rustPlatform.buildRustPackage =
    {
      pname,
      version,
      src,
      cargoLock,
      doCheck,
      nativeBuildInputs ? [ ],
      cargoBuildFlags ? [ ],
      buildFeatures ? [ ],
      buildPhase ? ''
        cargo build --frozen ${concatStringsSep " " cargoBuildFlags} \
          --features=${concatStringsSep "," buildFeatures}
      '',
      installPhase ? ''
        mkdir -p $out/bin
        for flag in ${concatStringsSep " " cargoBuildFlags}; do
          cp $CARGO_TARGET_DIR/debug/''${flag#--bin=} $out/bin/
        done
      '',
      meta ? { },
    }:
    run "${pname}-${version}"
      {
        inherit src meta nativeBuildInputs;
        inherit (cargoLock) lockFile;
        CARGO_HOME = machine "FLAKE_CHECK_CARGO_HOME";
        RUSTUP_HOME = machine "FLAKE_CHECK_RUSTUP_HOME";
        builtBefore = machine "FLAKE_CHECK_TARGET";
      }
      ''
        export HOME=$TMPDIR CARGO_TARGET_DIR=$builtBefore/flake-check
        cmp $src/Cargo.lock $lockFile
        copy=$CARGO_TARGET_DIR/source
        mkdir -p $copy

        # What cargo has built of other crates is as good here.
        own=$CARGO_TARGET_DIR/debug
        if [ ! -e $own ]; then
          mkdir -p $own/deps
          cp -rp $builtBefore/debug/.fingerprint $builtBefore/debug/build $own/
          rm -rf $own/{.fingerprint,build}/{recovery-*,xtask-*}
          find $builtBefore/debug/deps -name 'lib*' ! -name 'librecovery_*' -exec cp -p -t $own/deps {} +
        fi

        (cd $src && find . -type f) | while read -r file; do
          cmp -s $src/$file $copy/$file || install -D -m 644 $src/$file $copy/$file
        done
        (cd $copy && find . -type f) | while read -r file; do
          test -e $src/$file || rm $copy/$file
        done
        cd $copy
        ${buildPhase}
        ${installPhase}
      '';
}
