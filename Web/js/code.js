// Common programming languages of code in notes. Loaded on demand, because few notes contain code. JavaScript and CSS
// are in the part for HTML.
export {
  c, cpp, csharp, diff, dockerFile, go, java, json, kotlin, lua, nginx, objectiveC, perl, powerShell, properties, python,
  r, ruby, rust, scala, shell, sql, streamed, swift, toml, xml, yaml,
} from "../vendor/codemirror/languages.js";
