# bash completion for vigil. The words come from vigil itself, which makes them
# from the tables that also make the man pages, through its --help.
_vigil() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
	local i
	COMPREPLY=()
	# After the user's own command it is that command's business.
	if [[ $command == run || $command == map ]]; then
		for ((i = 2; i < COMP_CWORD; i++)); do
			if [[ ${COMP_WORDS[i]} == -- ]]; then
				_command_offset $((i + 1)) 2>/dev/null
				return
			fi
		done
	fi
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$(_vigil_commands)" -- "$cur")
		return
	fi
	case $prev in
	--state | --config | -o)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--pid)
		mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid= 2>/dev/null)" -- "$cur")
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_vigil_options "$command")" -- "$cur")
	elif [[ $command == @(run|map) ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	elif [[ $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_vigil_commands)" -- "$cur")
	elif [[ $command == @(ps|show|events|logs|why|mem|protect|top) ]]; then
		mapfile -t COMPREPLY < <(compgen -W "last $(_vigil_jobs)" -- "$cur")
	fi
}

# The first word of each indented line of `vigil help`.
_vigil_commands() {
	vigil help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p'
}

_vigil_options() {
	vigil help "$1" 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

_vigil_jobs() {
	vigil jobs --json 2>/dev/null | sed -nE 's/.*"name": ?"([^"]*)".*/\1/p' | sort -u
}

complete -F _vigil vigil
