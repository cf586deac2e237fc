# SPDX-License-Identifier: Apache-2.0
# Completion for bash; the words come from tenure's own table of commands.
_tenure()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

	case $prev in
	-f | --file | --token-file | --ca-file)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	esac
	mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _tenure tenure
