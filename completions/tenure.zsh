#compdef tenure tenure-manage
# SPDX-License-Identifier: Apache-2.0
# Completion for zsh, of tenure and tenure-manage; the words and their help come from the program's own table of commands.
# The whole file is the function that zsh calls, whatever it is called: _tenure or _tenure-manage.

local offered line word
local -i files
local -a typed described

# What stands before the cursor, without the shell's quotes. --format=json is two words.
typed=("${(@Q)words[2,CURRENT - 1]}")
if [[ $PREFIX == --*=* ]]; then
	typed+=("${(Q)PREFIX%%=*}" "${(Q)PREFIX#*=}")
	compset -P '*='
else
	typed+=("${(Q)PREFIX}")
fi
offered=$(${(Q)words[1]} __describe "${typed[@]}" 2>/dev/null)
files=$?
# "word<TAB>help" becomes "word:help", in which a colon of the word itself has a backslash.
for line in ${(f)offered}; do
	word=${${line%%$'\t'*}//:/\\:}
	[[ $line == *$'\t'* ]] && word+=:${line#*$'\t'}
	described+=("$word")
done
_describe -V word described
local -i none=$?
(( files )) && _files && none=0
return none
