// SPDX-License-Identifier: Apache-2.0
// Shell completion, made from the table of commands.
#include "base/base.h"

#include "base/completion.h"
#include "manage/commands.h"

// What the words before the one being typed say.
struct typed_before {
	const char *names[MANAGE_WORDS]; // those that are no options and no values of theirs, without `help`
	size_t n;
	const struct manage_command *command; // NULL: not named yet
	size_t of_command;                    // how many of the names name it
	const struct option_row *option;      // the one whose value is being typed; NULL: none is
	bool help;                            // behind `help`: only commands follow
};

static const struct option_row *find_option(const struct manage_command *command, const char *typed)
{
	const struct option_row *row =
		command != NULL ? completion_option(command->options, manage_command_options(command), typed) : NULL;

	return row != NULL ? row : completion_option(manage_everywhere, ROW__COUNT, typed);
}

static struct typed_before read_words(const char *const *words, size_t n)
{
	struct typed_before before = { .n = 0 };

	for (size_t i = 0; i < n; i++) {
		if (words[i][0] == '-' && words[i][1] != '\0') {
			const struct option_row *row = find_option(before.command, words[i]);
			if (row == NULL || row->value == NULL)
				continue;
			before.option = i + 1 == n ? row : NULL;
			i++;
		} else if (before.n == 0 && !before.help && strcmp(words[i], "help") == 0) {
			before.help = true;
		} else if (before.n < COUNT_OF(before.names)) {
			before.names[before.n++] = words[i];
			if (before.command == NULL) {
				before.command = manage_command_find(before.names, before.n);
				before.of_command = before.n;
			}
		}
	}
	return before;
}

// Offers the nouns or, if noun is not NULL, its verbs.
static void offer_names(const struct completion *completion, const char *noun)
{
	const char *names[MANAGE_WORDS];
	size_t n = manage_command_words(noun, names);

	for (size_t i = 0; i < n; i++) {
		const char *const words[] = { noun != NULL ? noun : names[i], names[i] };
		const struct manage_command *command = manage_command_find(words, noun != NULL ? 2 : 1);
		completion_offer(completion, str_c(names[i]), command != NULL ? command->help : NULL);
	}
}

int manage_complete(const char *const *words, size_t n, bool describes)
{
	static const struct completion_values few[] = {
		{ "ROLE", "reader|member|admin" }, { "STATE", "valid|expired|revoked" }, { "FORMAT", "text|json" },
		{ "LEVEL", "error|warning|info|debug|default" }, { NULL, NULL },
	};
	struct completion completion = { .typed = str_c(n > 0 ? words[n - 1] : ""), .describes = describes };
	struct typed_before before = read_words(words, n > 0 ? n - 1 : 0);
	const struct manage_command *command = before.command;

	if (before.option != NULL) {
		completion_offer_values(&completion, str_c(before.option->value), few);
	} else if (completion.typed.n > 0 && completion.typed.p[0] == '-') {
		if (command != NULL)
			completion_offer_options(&completion, command->options, manage_command_options(command));
		completion_offer_options(&completion, manage_everywhere, ROW__COUNT);
	} else if (command == NULL && before.n <= 1) {
		offer_names(&completion, before.n > 0 ? before.names[0] : NULL);
		if (before.n == 0 && !before.help)
			completion_offer(&completion, STR("help"), "print the commands, or what one takes");
	} else if (command != NULL && !before.help && before.n - before.of_command < command->n_arguments) {
		completion_offer_values(&completion, str_c(command->arguments), few);
	}
	return completion_exit_code(&completion);
}
