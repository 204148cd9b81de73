# The suites of tests/run: their names, and how each is built and run. Sourced, from the root.

e2e_marker='tests/run: also under asan'

list_suites() {
  echo structure
  echo warnings
  echo each-file
  echo unit-core
  echo unit-hosted
  echo unit-server
  echo unit-module
  echo unit-threads
  echo differential
  echo embedding
  echo calendar
  local path name
  for path in tests/e2e/*/run tests/e2e/*_test.py; do
    [[ -e $path ]] || continue
    name=$(e2e_name "$path")
    echo "e2e-$name"
    if grep -q "$e2e_marker" "$path"; then echo "asan-e2e-$name"; fi
  done
  for path in tests/clients/*/run; do echo "clients-$(basename "$(dirname "$path")")"; done
  for path in tests/fuzz/*_fuzz.cc; do
    [[ -e $path ]] || continue
    echo "fuzz-$(basename "$path" _fuzz.cc)"
  done
  echo bench-quota-scale
}

e2e_name() {
  if [[ $1 == */run ]]; then basename "$(dirname "$1")"; else basename "$1" _test.py; fi
}

# run_case TEXT: shows the commands, so that they can be repeated.
run_case() {
  local layer status=1
  conf/packaging/install_packages conf/packaging/packages.txt tests/packages.txt
  for layer in core hosted server module; do
    grep -rqF "TEST_CASE(\"$1" "tests/unit/$layer" || continue
    status=0
    cmake --preset debug >/dev/null
    (set -x; cmake --build --preset debug --target "${layer}_tests" && "build/debug/bin/${layer}_tests" "$1*")  || return
  done
  if (( status )); then echo "no case begins with: $1" >&2; fi
  return "$status"
}

# build PRESET TARGET…: what this run has not built yet, since nothing changes between the suites.
declare -A built=()
build() {
  local target left=()
  for target in "${@:2}"; do [[ -v built["$1 $target"] ]] || left+=("$target"); done
  (( ${#left[@]} )) || return 0
  cmake --preset "$1" && cmake --build --preset "$1" --target "${left[@]}" -- -k 0 || return
  for target in "${left[@]}"; do built["$1 $target"]=yes; done
}

# scaled N: that many, times SCALE, and at least 1: to a fuzzer 0 seconds are no limit.
scaled() { awk "BEGIN { n = int($1 * ${SCALE:-1}); print n < 1 ? 1 : n }"; }

limited() { timeout --kill-after=10 "$suite_seconds" "$@"; }

# targets_of NAME: the preset and the targets of what the suite runs.
targets_of() {
  case $1 in
    unit-threads) echo tsan thread_tests ;;
    unit-*) echo asan "${1#unit-}_tests" ;;
    differential) echo release tallyd differential ;;
    calendar) echo release calendar_windows ;;
    asan-e2e-*) targets_of "${1#asan-}" | sed 's/^release/asan/' ;;
    e2e-module_* | e2e-moving_in | e2e-migrate) echo release tallyd tally_module ;;
    e2e-* | clients-*) echo release tallyd ;;
    fuzz-*) echo asan "${1#fuzz-}_fuzz" ;;
    bench-quota-scale) echo release tallyd quota_scale ;;
  esac
}

# computes NAME: whether the suite computes all the time; the others mostly wait for a clock or a process.
computes() { [[ $1 == each-file || $1 == unit-* || $1 == differential || $1 == fuzz-* || $1 == bench-* ]]; }

# run_e2e PRESET NAME
run_e2e() {
  if [[ -e tests/e2e/$2/run ]]; then
    run_against "$1" "tests/e2e/$2/run"
  else
    run_against "$1" python3 "tests/e2e/$2_test.py"
  fi
}

# run_against PRESET PROGRAM…
run_against() {
  TALLYD=$PWD/build/$1/bin/tallyd limited "${@:2}"
}

# The corpus in the repository is read; what the fuzzer finds goes to the build directory, and what
# makes it crash to the logs. Of itself libFuzzer ends with 77 then, which means skipped here.
run_fuzz() {
  local found=build/asan/corpus/$1 words=()
  mkdir -p "$found"
  if [[ -e tests/fuzz/$1.dict ]]; then words=(-dict="tests/fuzz/$1.dict"); fi
  limited "build/asan/bin/$1_fuzz" -max_total_time="$(scaled 20)" -timeout=10 \
    -rss_limit_mb=2048 -error_exitcode=1 "${words[@]}" -artifact_prefix="$logs/fuzz-$1-" "$found" "tests/fuzz/corpus/$1"
}

check_each_file() {
  local mode
  for mode in syntax lint; do limited python3 tests/each_file.py "$mode" "$(scaled 100)" || return; done
}

# At a hundredth of the full size, for what it checks: times say nothing beside other suites.
run_quota_scale() {
  limited build/release/bin/quota_scale --scale 0.01 --seconds 2 --dir "${TMPDIR:-/tmp}"
}

# A compiler warns only when it compiles. What it says of other projects' headers is theirs to mend.
check_warnings() {
  if ! grep -qs ' Building ' "$logs/builds.log"; then echo "nothing was compiled"; return 77; fi
  ! grep 'warning:' "$logs/builds.log" | grep -v '^/usr/'
}

run_suite() {
  local targets
  read -ra targets < <(targets_of "$1") && { build "${targets[@]}" || return; }
  case $1 in
    structure) limited python3 tests/structure_test.py ;;
    warnings) check_warnings ;;
    each-file) check_each_file ;;
    unit-core) limited build/asan/bin/core_tests ;;
    unit-hosted) limited build/asan/bin/hosted_tests ;;
    unit-server) limited build/asan/bin/server_tests ;;
    unit-module) limited build/asan/bin/module_tests ;;
    unit-threads) limited build/tsan/bin/thread_tests ;;
    # One seed, so that a change is judged by what it changed; other seeds are run by hand.
    differential) limited tests/differential/run "$(scaled 1000000)" "${DIFFERENTIAL_SEED:-2174692065}" ;;
    embedding) limited tests/embedding/run ;;
    calendar) limited python3 tests/calendar/calendar_test.py build/release/bin/calendar_windows ;;
    asan-e2e-*) run_e2e asan "${1#asan-e2e-}" ;;
    clients-*) run_against release "tests/clients/${1#clients-}/run" ;;
    e2e-*) run_e2e release "${1#e2e-}" ;;
    fuzz-*) run_fuzz "${1#fuzz-}" ;;
    bench-quota-scale) run_quota_scale ;;
  esac
}
