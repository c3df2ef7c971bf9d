let
  inherit (builtins)
    any
    listToAttrs
    pathExists
    readFile
    stringLength
    substring
    throw
    ;
in
rec {
  genAttrs =
    names: value:
    listToAttrs (
      map (name: {
        inherit name;
        value = value name;
      }) names
    );

  # As strict as the real one: a program's name is stated, not guessed.
  getExe =
    package:
    "${package}/bin/${package.meta.mainProgram or (throw "${package.name} states no mainProgram")}";

  importTOML = path: fromTOML (readFile path);

  fileset = {
    unions = map (path: if pathExists path then path else throw "${toString path} does not exist");

    toSource =
      { root, fileset }:
      builtins.path {
        name = "source";
        path = root;
        filter =
          path: _:
          let
            isAt = place: path == place || hasPrefix "${place}/" path;
            leadsTo = place: hasPrefix "${path}/" place;
          in
          any (chosen: isAt (toString chosen) || leadsTo (toString chosen)) fileset;
      };
  };

  hasPrefix = prefix: text: substring 0 (stringLength prefix) text == prefix;

  hasSuffix =
    suffix: text:
    substring (stringLength text - stringLength suffix) (stringLength suffix) text == suffix;
}
