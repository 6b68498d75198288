// The languages that code in notes is often written in: a part of its own, for few notes have any. JavaScript and CSS
// are in the part for HTML.
export {
  c, cpp, csharp, diff, dockerFile, go, java, json, kotlin, lua, nginx, objectiveC, perl, powerShell, properties, python,
  r, ruby, rust, scala, shell, sql, streamed, swift, toml, xml, yaml,
} from "../vendor/codemirror/languages.js";
