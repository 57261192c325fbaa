// No upstream twin: upstream has no shell completion.

package completion

import (
	"fmt"
	"sort"
	"strings"
)

// Command is a command with the flags it takes, without dashes.
type Command struct {
	Name  string
	Help  string
	Flags []string
}

// Program is what a script completes.
type Program struct {
	Name     string
	Commands []Command
	// Flags are taken with every command, or without one.
	Flags []string
	// Dash stands before a flag: "--" or "-".
	Dash string
}

// Shells are the shells that Script knows.
var Shells = []string{"bash", "zsh", "fish"}

// Script gives the text to be sourced by a shell; an unknown one is an error.
func Script(shell string, p Program) (string, error) {
	if p.Dash == "" {
		p.Dash = "--"
	}
	switch shell {
	case "bash":
		return bash(p), nil
	case "zsh":
		return zsh(p), nil
	case "fish":
		return fish(p), nil
	}
	return "", fmt.Errorf("no completion for shell %q; there is %s", shell, strings.Join(Shells, ", "))
}

// Asked tells whether a tool's only argument is --completion=SHELL for a shell
// that there is, and gives the script.
func Asked(args []string, p Program) (string, bool) {
	if len(args) != 1 {
		return "", false
	}
	shell, ok := strings.CutPrefix(args[0], "--completion=")
	if !ok {
		return "", false
	}
	text, err := Script(shell, p)
	return text, err == nil
}

// flags joins a command's flags with the common ones.
func (p *Program) flags(c *Command) []string {
	seen := map[string]bool{}
	var out []string
	add := func(list []string) {
		for _, f := range list {
			if !seen[f] {
				seen[f] = true
				out = append(out, p.Dash+f)
			}
		}
	}
	if c != nil {
		add(c.Flags)
	}
	add(p.Flags)
	sort.Strings(out)
	return out
}

func (p *Program) names() []string {
	var out []string
	for _, c := range p.Commands {
		out = append(out, c.Name)
	}
	return out
}

// function is the program's name as one of a shell function.
func (p *Program) function() string {
	return "_" + strings.NewReplacer("-", "_", ".", "_").Replace(p.Name)
}

func bash(p Program) string {
	var b strings.Builder
	fn := p.function()
	fmt.Fprintf(&b, "# bash completion for %s\n%s() {\n", p.Name, fn)
	b.WriteString("  local cur=${COMP_WORDS[COMP_CWORD]} cmd= w\n")
	if len(p.Commands) > 0 {
		fmt.Fprintf(&b, "  for w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case $w in\n      %s) cmd=$w; break ;;\n    esac\n  done\n", strings.Join(p.names(), "|"))
	}
	fmt.Fprintf(&b, "  local flags='%s'\n", strings.Join(p.flags(nil), " "))
	if len(p.Commands) > 0 {
		b.WriteString("  case $cmd in\n")
		for i := range p.Commands {
			fmt.Fprintf(&b, "    %s) flags='%s' ;;\n", p.Commands[i].Name, strings.Join(p.flags(&p.Commands[i]), " "))
		}
		b.WriteString("  esac\n")
	}
	b.WriteString("  if [[ $cur == -* ]]; then\n    compopt -o nospace 2>/dev/null\n    COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n")
	if len(p.Commands) > 0 {
		fmt.Fprintf(&b, "  elif [[ -z $cmd && $cur != = && ${COMP_WORDS[COMP_CWORD-1]} != = ]]; then\n    COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n", strings.Join(p.names(), " "))
	}
	b.WriteString("  else\n    [[ $cur == = ]] && cur=\n    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}\n")
	fmt.Fprintf(&b, "complete -F %s %s ./%s\n", fn, p.Name, p.Name)
	return b.String()
}

// single quotes text for zsh and fish.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func zsh(p Program) string {
	var b strings.Builder
	fn := p.function()
	fmt.Fprintf(&b, "#compdef %s\n# zsh completion for %s\n%s() {\n", p.Name, p.Name, fn)
	b.WriteString("  local -a commands flags\n  local cmd= w\n")
	if len(p.Commands) > 0 {
		b.WriteString("  commands=(\n")
		for _, c := range p.Commands {
			text := c.Name
			if c.Help != "" {
				text += ":" + strings.ReplaceAll(c.Help, ":", `\:`)
			}
			fmt.Fprintf(&b, "    %s\n", single(text))
		}
		fmt.Fprintf(&b, "  )\n  for w in ${words[2,CURRENT-1]}; do\n    case $w in\n      (%s) cmd=$w; break ;;\n    esac\n  done\n", strings.Join(p.names(), "|"))
	}
	fmt.Fprintf(&b, "  flags=(%s)\n", strings.Join(p.flags(nil), " "))
	if len(p.Commands) > 0 {
		b.WriteString("  case $cmd in\n")
		for i := range p.Commands {
			fmt.Fprintf(&b, "    (%s) flags=(%s) ;;\n", p.Commands[i].Name, strings.Join(p.flags(&p.Commands[i]), " "))
		}
		b.WriteString("  esac\n")
	}
	b.WriteString("  if [[ $PREFIX == -*=* ]]; then\n    compset -P '*='\n    _files\n")
	b.WriteString("  elif [[ $PREFIX == -* ]]; then\n    compadd -S '' -a flags\n")
	if len(p.Commands) > 0 {
		b.WriteString("  elif [[ -z $cmd ]]; then\n    _describe command commands\n")
	}
	b.WriteString("  else\n    _files\n  fi\n}\n")
	fmt.Fprintf(&b, "if [[ $funcstack[1] == %s ]]; then\n  %s \"$@\"\nelse\n  compdef %s %s\nfi\n", fn, fn, fn, p.Name)
	return b.String()
}

func fish(p Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for %s\n", p.Name)
	// Flags are offered as words: fish's own -l would take the flag's first letters
	// for a group of short ones where they begin with one dash.
	words := func(list []string) string { return single(strings.Join(list, " ")) }
	if len(p.Commands) > 0 {
		names := strings.Join(p.names(), " ")
		for _, c := range p.Commands {
			fmt.Fprintf(&b, "complete -c %s -n 'not __fish_seen_subcommand_from %s' -f -a %s", p.Name, names, single(c.Name))
			if c.Help != "" {
				fmt.Fprintf(&b, " -d %s", single(c.Help))
			}
			b.WriteByte('\n')
		}
		for i := range p.Commands {
			fmt.Fprintf(&b, "complete -c %s -n '__fish_seen_subcommand_from %s; and string match -q -- \"-*\" (commandline -ct)' -a %s\n",
				p.Name, p.Commands[i].Name, words(p.flags(&p.Commands[i])))
		}
	}
	fmt.Fprintf(&b, "complete -c %s -n 'string match -q -- \"-*\" (commandline -ct)' -a %s\n", p.Name, words(p.flags(nil)))
	return b.String()
}
