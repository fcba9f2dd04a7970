def env: {};

def @html: tostring
  | gsub("&"; "&amp;") | gsub("<"; "&lt;") | gsub(">"; "&gt;") | gsub("'"; "&#39;") | gsub("\""; "&quot;");

def _row(string; what):
  if isarray then
    map(
      if isstring then string
      elif . == null then ""
      elif isnumber or isboolean then tojson
      else error(what + " rows hold no \(type)")
      end)
  else error(what + " rows are arrays, not \(type)")
  end;

def @csv: _row("\"" + gsub("\""; "\"\"") + "\""; "csv") | join(",");
def @tsv:
  _row(gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n") | gsub("\r"; "\\r"); "tsv") | join("\t");

def flatten: [.[] | recurse(arrays[]) | select(isarray | not)];
def leaf_paths: paths(scalars);
def IN(stream): any(stream == .; .);
def IN(source; stream): any(source == stream; .);
def INDEX(stream; key): reduce stream as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
