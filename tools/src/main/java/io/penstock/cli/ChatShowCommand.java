// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.chat.ChatReport;
import io.penstock.chat.ChatTokenizer;
import io.penstock.io.local.RegularFile;
import io.penstock.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "show",
        description = "Prints a conversation as the model gets it, with the tokens that are trained on.",
        footer = {"", "Example: penstock chat show chats.jsonl --template model/ --sample 3",
            "", "On a terminal the trained tokens are green; elsewhere they stand between [[ and ]]."})
final class ChatShowCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(index = "0", paramLabel = "FILE", description = "JSON lines with conversations.")
    private Path file;

    @Option(names = "--sample", paramLabel = "N", description = "Line to show, from 0; default: ${DEFAULT-VALUE}.")
    private long sample;

    @Mixin
    private ChatOptions chats;

    @Option(names = "--max-length", paramLabel = "N", description = ChatOptions.MAX_LENGTH)
    private long maxLength = Long.MAX_VALUE;

    @Mixin
    private TokenizerOptions tokenizer;

    @Option(names = "--html", description = "Print an HTML page.")
    private boolean html;

    @Override
    public Integer call() throws IOException {
        UsageException.requireAtLeast(0, "--sample", sample);
        ChatTokenizer encoder = chats.open(chats.tokenizer(tokenizer), maxLength);
        ChatReport shown;
        try {
            shown = ChatReport.of(encoder, record());
        } catch (IllegalArgumentException e) {
            throw new BadInputException(file + ": line " + (sample + 1) + ": " + e.getMessage(), e);
        }
        report.print(report.isJson() ? shown.toJson() : html ? shown.toHtml(file + ", line " + (sample + 1))
                : ProgressBar.isTerminal() ? shown.toColoredText() : shown.toText());
        return ExitCode.SUCCESS;
    }

    private Map<String, @Nullable Object> record() throws IOException {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(RegularFile.newInputStream(file),
                StandardCharsets.UTF_8))) {
            long number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.isBlank() && number++ == sample) {
                    return Json.object(Json.parse(line));
                }
            }
            throw new BadInputException(file + ": found " + number + " conversations, expected more than " + sample);
        }
    }
}
