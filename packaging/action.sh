#!/usr/bin/env bash
# What action.yml runs: validates the inputs, installs edgeproof outside of the workspace, and runs the steps. All steps run,
# so that one run shows all that is wrong; those that failed decide at the end.
set -euo pipefail

OLDEST_NODE=24

refuse() {
  echo "::error title=edgeproof::$1"
  exit 2
}

# Files come from the workflow: one that begins with a dash would be read as an option.
read_paths() {
  local -n paths=$1
  read -r -d '' -a paths <<<"$2" || true
  [ ${#paths[@]} -gt 0 ] || refuse "the input '$3' is empty; name at least one file"
  local path
  for path in "${paths[@]}"; do
    [[ $path != -* ]] || refuse "the input '$3' has '$path', which begins with a dash; write ./$path"
  done
}

[[ $INPUT_VERSION =~ ^(latest|[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?)$ || (-f $INPUT_VERSION && $INPUT_VERSION == *.tgz) ]] ||
  refuse "the input 'version' is '$INPUT_VERSION'; write a version such as 0.1.0, latest, or the path of a .tgz file"
read -r -d '' -a steps <<<"$INPUT_STEPS" || true
[ ${#steps[@]} -gt 0 ] || refuse "the input 'steps' is empty; write some of check, test, cover and diff"
for step in "${steps[@]}"; do
  [[ $step =~ ^(check|test|cover|diff)$ ]] || refuse "the input 'steps' has '$step'; write some of check, test, cover and diff"
  if [ "$step" = diff ]; then
    [[ $INPUT_BASE =~ ^[A-Za-z0-9][A-Za-z0-9._/@~^-]*$ ]] ||
      refuse "diff needs the input 'base', a git revision such as origin/main, not '$INPUT_BASE'"
  fi
done
[[ $INPUT_THRESHOLD =~ ^([a-z]+=[0-9.]+(,[a-z]+=[0-9.]+)*)?$ ]] ||
  refuse "the input 'threshold' is '$INPUT_THRESHOLD'; write it as rules=100,mcdc=90"
read_paths files "$INPUT_FILES" files
read_paths scenarios "$INPUT_SCENARIOS" scenarios

node=$(node --version 2>/dev/null || echo none)
[[ $node =~ ^v([0-9]+) && ${BASH_REMATCH[1]} -ge $OLDEST_NODE ]] ||
  refuse "Node $OLDEST_NODE or newer is needed, and this job has $node; put actions/setup-node before this step"

home=$RUNNER_TEMP/edgeproof
package=edgeproof@$INPUT_VERSION
[[ $INPUT_VERSION != *.tgz ]] || package=$(realpath "$INPUT_VERSION")
echo "::group::npm install $package"
npm install --prefix "$home" --no-save --no-audit --no-fund "$package" || refuse "$package cannot be installed"
echo '::endgroup::'

edgeproof() {
  node "$home/node_modules/edgeproof/dist/lib/main.cjs" "$@"
}

summarize() {
  { printf '## edgeproof %s\n\n' "$1"; cat; printf '\n'; } >>"$GITHUB_STEP_SUMMARY"
}

# In the summary a report is text of a fixed width.
fenced() {
  printf '````text\n'
  cat
  printf '````\n'
}

check() {
  edgeproof check -r github "${files[@]}"
}

test() {
  local report=$RUNNER_TEMP/edgeproof-report.xml code=0
  echo "report=$report" >>"$GITHUB_OUTPUT"
  edgeproof test -r pretty="$home/tests.txt" -r github -r junit="$report" "${scenarios[@]}" || code=$?
  fenced <"$home/tests.txt" | summarize test
  cat "$home/tests.txt"
  return $code
}

cover() {
  local code=0
  local -a threshold=()
  [ -z "$INPUT_THRESHOLD" ] || threshold=(--threshold "$INPUT_THRESHOLD")
  edgeproof cover "${threshold[@]}" "${scenarios[@]}" >"$home/cover.txt" || code=$?
  fenced <"$home/cover.txt" | summarize cover
  cat "$home/cover.txt"
  return $code
}

# A difference is what diff is asked for, so it is reported and does not fail.
diff() {
  local code=0
  edgeproof diff -r github "$INPUT_BASE:${files[0]}" "${files[0]}" || code=$?
  [ $code = 0 ] || [ $code = 5 ] || return $code
  edgeproof diff -r markdown "$INPUT_BASE:${files[0]}" "${files[0]}" | summarize diff || true
  echo "changed=$([ $code = 5 ] && echo true || echo false)" >>"$GITHUB_OUTPUT"
}

failed=()
for step in "${steps[@]}"; do
  code=0
  "$step" || code=$?
  [ $code = 0 ] || { failed+=("$step"); echo "::error title=edgeproof::$step failed with exit code $code"; }
done
echo "failed=${failed[*]}" >>"$GITHUB_OUTPUT"
[ ${#failed[@]} = 0 ]
