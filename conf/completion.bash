# bash completion for tallyd: its actions, and the directives of the configuration as it is shipped. That of
# the server, in /etc/tallyd, is for its user and root alone.

_tallyd_conf=/usr/share/tallyd/tallyd.conf
# In the archive it lies beside this file's folder.
if [[ ! -e $_tallyd_conf ]]; then _tallyd_conf=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../conf/tallyd.conf; fi

_tallyd() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} directives
  case $previous in
    --check-aof | --backup | --dir) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
  esac
  if [[ $word == --* ]]; then
    directives=$(sed -n 's/^#\{0,1\}\([a-z][a-z0-9-]*\) .*/--\1/p' "$_tallyd_conf" 2>/dev/null)
    mapfile -t COMPREPLY < <(compgen -W \
      "--help --version --check-config --check-aof --fix --backup --import --export --skip-unknown --drop-field-ttl --ping $directives" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F _tallyd tallyd
