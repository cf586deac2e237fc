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
	local cur word blank before= offered words=() rest=$COMP_LINE i

	# bash makes three words of --format=json, and of http://host, though that is one argument. Only the line tells whether a blank stands at a
	# colon.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		blank=${rest%%[![:blank:]]*}
		rest=${rest#"$blank"}
		rest=${rest#"$word"}
		if [ "${#words[@]}" -gt 0 ] && [ -z "$blank" ] && [[ $word == :* || $before == *: ]]; then
			words[${#words[@]}-1]+=$word
		elif [ "$i" -gt 0 ] && [ "$word" != = ]; then
			words+=("$word")
		fi
		before=$word
	done
	[ "$word" != = ] || words+=('')
	cur=${words[${#words[@]}-1]}
	offered=$("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
	local files=$?
	COMPREPLY=()
	[ -z "$offered" ] || mapfile -t COMPREPLY <<<"$offered"
	[ "$files" = 0 ] || _tenure_files "$cur"
	# bash replaces only what stands behind the last colon.
	[[ $cur != *:* || $COMP_WORDBREAKS != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
}
complete -F _tenure tenure tenure-manage
