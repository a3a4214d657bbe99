# Sourced by the scripts beside it, with $root set to the checkout: prepares "$root/.venv".
# shellcheck shell=sh
#
# .venv/.setup/ remembers what was done: copies of the installed locks, a log of the last set-up, a lock file, and
# "unfinished" while a set-up is under way, so that an interrupted one is started afresh.

venv=$root/.venv
state=$venv/.setup
log=$state/log.txt
python=$venv/bin/python
supported='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'

fail() {
    printf '%s\n' "$1" >&2
    exit 2
}

is_supported() { "$1" -c "$supported" >/dev/null 2>&1; }

can_make_venv() { "$1" -c 'import ensurepip, venv; ensurepip.version()' >/dev/null 2>&1; }

version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

choose_base() { # sets $base to the first supported Python that can make virtual environments
    if [ -e "$venv/pyvenv.cfg" ] && [ ! -e "$state/ours" ]; then
        fail "$venv is not of this script's making and does not run Python 3.11-3.13 with pip: move it away"
    fi
    incomplete=''
    if [ -n "${PYTHON:-}" ]; then
        is_supported "$PYTHON" || fail "PYTHON=$PYTHON is not a Python 3.11, 3.12 or 3.13."
        set -- "$PYTHON"
    else
        set -- python3 python3.13 python3.12 python3.11
    fi
    for base; do
        is_supported "$base" || continue
        if can_make_venv "$base"; then return; fi
        incomplete=${incomplete:-$base}
    done
    case $incomplete in
        '') fail 'No Python 3.11, 3.12 or 3.13 was found: install one (apt install python3 python3-venv) or set PYTHON.' ;;
        python3) package=python3-venv ;;
        *) package=python$(version_of "$incomplete")-venv ;;
    esac
    fail "$incomplete cannot make virtual environments; on Debian and Ubuntu: apt install $package"
}

is_wanted() { # whether .venv runs a supported Python, the one of $PYTHON where that is set
    is_supported "$python" &&
        { [ -z "${PYTHON:-}" ] || [ "$(version_of "$PYTHON" 2>/dev/null)" = "$(version_of "$python")" ]; }
}

parts() { # parts LOCK: the locks that it is made of
    case $1 in
        requirements/dev.txt) echo requirements.txt requirements/robot.txt "$1" ;;
        requirements/robot.txt) echo requirements.txt "$1" ;;
        *) echo "$1" ;;
    esac
}

is_ready() { # is_ready LOCK: whether .venv holds what the lock says
    if [ -e "$state/unfinished" ] || ! is_wanted; then return 1; fi
    for part in $(parts "$1"); do
        cmp -s "$root/$part" "$state/$part" || return 1
    done
}

is_usable() { # whether packages can be installed into .venv as it is; an interrupted set-up of ours cannot be trusted
    { [ ! -e "$state/unfinished" ] || [ ! -e "$state/ours" ]; } && is_wanted && "$python" -m pip --version >/dev/null 2>&1
}

make_venv() {
    find "$venv" -mindepth 1 -maxdepth 1 ! -name .setup -exec rm -rf {} +
    rm -rf "$state"/requirements*
    : >"$state/ours"
    : >"$state/unfinished"
    "$base" -m venv "$venv" >"$log" 2>&1 || fail "$base could not make $venv; see $log"
}

install() { # install LOCK
    : >"$state/unfinished"
    if ! "$python" -m pip install --disable-pip-version-check --no-input --no-user --progress-bar off \
        --require-hashes -r "$root/$1" >>"$log" 2>&1; then
        if grep -qiE 'connection broken by|timed out|failed to connect|ssl certificate|from versions: none' \
            "$log" && ! grep -q 'DO NOT MATCH THE HASHES' "$log"; then
            fail "The Python package index could not be reached: check the network or pip's proxy and index settings; see $log"
        fi
        fail "pip could not install $1: $(grep '^ERROR' "$log" | tail -n 1 | sed 's/\. .*//' | cut -c 1-200); see $log"
    fi
    mkdir -p "$state/requirements"
    for part in $(parts "$1"); do
        cp "$root/$part" "$state/$part"
    done
    rm -f "$state/unfinished"
}

prepare() { # prepare LOCK: .venv with the packages of the lock; one line when there is something to do
    if is_ready "$1"; then return; fi
    mkdir -p "$state" 2>/dev/null || fail "Cannot write to $venv"
    [ -w "$state" ] || fail "Cannot write to $state"
    exec 9>"$state/lock"
    if command -v flock >/dev/null; then flock 9; fi
    if ! is_ready "$1"; then
        base=''
        is_usable || choose_base
        echo "setting up $venv from $1 (about a minute the first time) ..." >&2
        : >"$log"
        [ -z "$base" ] || make_venv
        install "$1"
    fi
    exec 9>&-
}
