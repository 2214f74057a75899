/**
 * Each script asks `modelport __complete` what may come next, so that it never goes out of date. bash breaks words at `:` and `=`, which
 * names are full of: its script takes the line apart itself and gives back only what follows the last break.
 */
export const completionScripts = {
  bash: `# modelport completion for bash: source <(modelport completion bash)
_modelport() {
  local line="\${COMP_LINE:0:COMP_POINT}" words current prefix reply value
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current="\${words[\${#words[@]}-1]}"
  prefix="\${current%"\${current##*[:=]}"}"
  COMPREPLY=()
  while IFS= read -r reply; do
    case "$reply" in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "\${current##*[:=]}")
        ;;
      :*) ;;
      *)
        value="\${reply%%$'\\t'*}"
        COMPREPLY+=("\${value#"$prefix"}")
        ;;
    esac
  done < <(modelport __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _modelport modelport
`,
  zsh: `#compdef modelport
# modelport completion for zsh: source <(modelport completion zsh)
_modelport() {
  local -a lines entries
  local line
  lines=("\${(@f)$(modelport __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${(@)lines[1,-2]}"; do
    entries+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( $#entries )) && _describe 'modelport' entries
  [[ "\${lines[-1]}" == ':files' ]] && _files
  return 0
}
if [[ "\${funcstack[1]}" == '_modelport' ]]; then _modelport "$@"; else compdef _modelport modelport; fi
`,
  fish: `# modelport completion for fish: modelport completion fish | source
function __modelport_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (modelport __complete -- $words[2..-1] 2>/dev/null)
    string match -v -r '^:' -- $lines
    if test "$lines[-1]" = ':files'
        __fish_complete_path (commandline -ct)
    end
end
complete -c modelport -f -a '(__modelport_complete)'
`,
} as const;

export const shells = ['bash', 'zsh', 'fish'] as const satisfies readonly (keyof typeof completionScripts)[];
