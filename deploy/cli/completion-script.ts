export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** The hidden command that says what a command line may become; kubectl calls it by the name `kubectl_complete-ot`. */
export const hiddenCommand = '__complete';

/** The completion script of a shell: each asks the hidden command, whose last line is Cobra's directive (6: no blank, no files). */
export const completionScript = (shell: Shell) => ({ bash, zsh, fish })[shell];

const bash = `_ot_functions() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :0) compopt -o default ;;
      :6) compopt -o nospace ;;
      :*) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(ot-functions ${hiddenCommand} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ot_functions ot-functions`;

const zsh = `#compdef ot-functions
_ot_functions() {
  local line directive
  local -a found
  while IFS= read -r line; do
    case "$line" in
      :*) directive="$line" ;;
      *) found+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(ot-functions ${hiddenCommand} "\${(@)words[2,CURRENT]}" 2>/dev/null)
  case "$directive" in
    :0) _files ;;
    :6) compadd -S '' -- $found ;;
    *) compadd -- $found ;;
  esac
}
compdef _ot_functions ot-functions`;

const fish = `complete -c ot-functions -f -a "(ot-functions ${hiddenCommand} (commandline -opc)[2..] (commandline -ct) 2>/dev/null | string match -v ':*')"`;
