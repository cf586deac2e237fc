# SPDX-License-Identifier: Apache-2.0
# Completion for bash, of tenure and tenure-manage; the words come from the program's own table of commands.

# Adds names of files that begin so; readline escapes blanks in them, and puts a slash behind a folder.
_tenure_files()
{
	local files

	compopt -o filenames 2>/dev/null
	mapfile -t files < <(compgen -f -- "$1")
	COMPREPLY+=("${files[@]}")
}

_tenure()
{
	local cur=${COMP_WORDS[COMP_CWORD]} word offered words=()

	# bash makes three words of --format=json.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		[ "$word" = = ] || words+=("$word")
	done
	if [ "$cur" = = ]; then
		cur=
		words+=('')
	fi
	offered=$("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
	local files=$?
	COMPREPLY=()
	[ -z "$offered" ] || mapfile -t COMPREPLY <<<"$offered"
	[ "$files" = 0 ] || _tenure_files "$cur"
}
complete -F _tenure tenure tenure-manage
