# SPDX-License-Identifier: Apache-2.0
# Completion for bash; the words come from tenure's own table of commands.

# Names of files that begin so; readline escapes blanks in them, and puts a slash behind a folder.
_tenure_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_tenure()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev='' word words=()

	# bash makes three words of --format=json.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		[ "$word" = = ] || words+=("$word")
	done
	if [ "$cur" = = ]; then
		cur=
		words+=('')
	fi
	[ ${#words[@]} -lt 2 ] || prev=${words[-2]}
	case $prev in
	-f | --file | --token-file | --ca-file)
		_tenure_files "$cur"
		return
		;;
	esac
	mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
	if [ ${#COMPREPLY[@]} = 0 ] && [ "${words[0]-}" = import ] && [ "${cur:0:1}" != - ]; then
		_tenure_files "$cur"
	fi
}
complete -F _tenure tenure
