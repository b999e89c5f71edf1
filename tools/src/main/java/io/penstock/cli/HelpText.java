// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Help whose lines end between words alone. Picocli's own also end behind punctuation, so that {@code settings.json}
 * or {@code s3://} come in two parts, which nobody can copy.
 */
final class HelpText extends Help {

    private static final int BESIDE_LONG_OPTION = 5;

    HelpText(CommandSpec spec, ColorScheme colors) {
        super(spec, colors);
    }

    @Override
    public Layout createDefaultLayout(List<OptionSpec> options, List<PositionalParamSpec> parameters,
            ColorScheme colors) {
        int longOption = calcLongOptionColumnWidth(options, parameters, colors);
        return new Layout(colors, new Words(colors, new Column(2, 0, Overflow.TRUNCATE),
                new Column(2, 0, Overflow.SPAN), new Column(1, 0, Overflow.TRUNCATE),
                new Column(longOption, 1, Overflow.SPAN),
                new Column(width() - BESIDE_LONG_OPTION - longOption, 1, Overflow.WRAP)),
                createDefaultOptionRenderer(), createDefaultParameterRenderer());
    }

    @Override
    public String description(Object... params) {
        return paragraphs(commandSpec().usageMessage().description(), params);
    }

    @Override
    public String footer(Object... params) {
        return paragraphs(commandSpec().usageMessage().footer(), params);
    }

    private String paragraphs(String[] lines, Object... params) {
        Words table = new Words(colorScheme(), new Column(width(), 0, Overflow.WRAP));
        table.indentWrappedLines = 0;
        for (String line : lines) {
            table.addRowValues(String.format(Locale.ROOT, line, params));
        }
        return table.toString();
    }

    private int width() {
        return commandSpec().usageMessage().width();
    }

    /** A table whose wrapped columns end their lines between words, if a word is not longer than a line. */
    private static final class Words extends TextTable {

        Words(ColorScheme colors, Column... columns) {
            super(colors, columns);
        }

        @Override
        public Cell putValue(int row, int col, Text value) {
            Column column = columns()[col];
            if (column.overflow != Overflow.WRAP || value == null) {
                return super.putValue(row, col, value);
            }
            int indent = column.indent;
            try {
                Text rest = value;
                int at = row;
                int end = lineEnd(rest.plainString(), column.width - column.indent);
                while (end < rest.plainString().length()) {
                    super.putValue(at, col, rest.substring(0, end));
                    rest = rest.substring(nextWord(rest.plainString(), end));
                    column.indent = indent + indentWrappedLines;
                    addEmptyRow();
                    at++;
                    end = lineEnd(rest.plainString(), column.width - column.indent);
                }
                return super.putValue(at, col, rest);
            } finally {
                column.indent = indent;
            }
        }

        /** Where the first line of a text ends: behind the last word that has room. */
        private static int lineEnd(String text, int width) {
            if (text.length() <= width) {
                return text.length();
            }
            int blank = text.lastIndexOf(' ', width);
            return blank > 0 && !text.substring(0, blank).isBlank() ? blank : width;
        }

        private static int nextWord(String text, int from) {
            int at = from;
            while (at < text.length() && text.charAt(at) == ' ') {
                at++;
            }
            return at;
        }
    }
}
