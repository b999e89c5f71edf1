// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.diagnose.watch.Peers;
import io.penstock.diagnose.watch.RunText;
import io.penstock.diagnose.watch.RunView;
import io.penstock.diagnose.watch.WatchPage;
import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "watch",
        sortOptions = false,
        description = "Shows a run while it runs: each rank's steps, and which rank holds the others up, and why.",
        footer = {"",
            "Examples: penstock stream out --steps 10000 --step-ms 5 --watch 9464",
            "          penstock watch 9464",
            "          penstock watch node1:9464 node2:9464 --token-file token",
            "          penstock watch /shared/run --once --json",
            "", "A rank is silent if it says or does nothing for 15 seconds, or for 20 steps if those are longer. With"
                + " --once the exit status is 1 if no rank answers."})
final class WatchCommand implements Callable<Integer> {

    private static final int COLUMNS = 80;
    private static final int ROWS = 24;
    private static final long PATIENCE_MILLIS = 3000;
    private static final long MOST_TOKEN_BYTES = 4096;
    private static final int MOST_PORT = 65_535;
    private static final String HOME = "\u001b[H";
    private static final String ERASE_LINE = "\u001b[K";
    private static final String ERASE_BELOW = "\u001b[J";

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "RUN",
            description = "Port of this machine, host:port, or folder that ranks write their status to.")
    private List<String> places;

    @Option(names = "--once", description = "Show what ranks say now, and end.")
    private boolean once;

    @Option(names = "--every", defaultValue = "2", paramLabel = "SECONDS",
            description = "Seconds between two looks; default: ${DEFAULT-VALUE}.")
    private double everySeconds;

    @Option(names = "--html", paramLabel = "PORT",
            description = "Also serve a page that updates itself, to this machine alone; 0 for any free port.")
    private @Nullable Integer htmlPort;

    @Option(names = "--gpu-hour", paramLabel = "PRICE",
            description = "Price of a GPU's hour, to show what waiting has cost.")
    private double gpuHour = Double.NaN;

    @Option(names = "--token-file", paramLabel = "FILE", description = "File with the token of other machines' ranks.")
    private @Nullable Path tokenFile;

    @Override
    public Integer call() throws IOException {
        if (!(everySeconds >= 0.1 && everySeconds <= 3600)) {
            throw new UsageException("--every: found " + everySeconds + ", expected 0.1 to 3600");
        }
        if (htmlPort != null && (htmlPort < 0 || htmlPort > MOST_PORT)) {
            throw new UsageException("--html: found " + htmlPort + ", expected 0 to 65535");
        }
        requirePrice("--gpu-hour", gpuHour);
        String token = token();
        try (Peers peers = UsageException.valid(() -> new Peers(places, token, PATIENCE_MILLIS));
                WatchPage page = htmlPort == null ? null : WatchPage.open(htmlPort)) {
            if (page != null) {
                report.note("serving " + page.address());
            }
            return watch(peers, page);
        }
    }

    static void requirePrice(String option, double price) {
        if (price < 0 || Double.isInfinite(price)) {
            throw new UsageException(option + ": found " + price + ", expected a price of 0 or more");
        }
    }

    private String token() throws IOException {
        if (tokenFile == null) {
            return "";
        }
        if (Files.size(tokenFile) > MOST_TOKEN_BYTES) {
            throw new UsageException("--token-file: found " + Files.size(tokenFile) + " bytes, expected a token");
        }
        String token = new String(RegularFile.readAllBytes(tokenFile), StandardCharsets.UTF_8).strip();
        if (!token.chars().allMatch(c -> c > ' ' && c < 127)) {
            throw new UsageException("--token-file: found other characters than ASCII letters, digits and signs");
        }
        return token;
    }

    private int watch(Peers peers, @Nullable WatchPage page) {
        var history = new RunView.History(gpuHour);
        boolean isScreen = !once && !report.isJson() && ProgressBar.isTerminal();
        while (true) {
            RunView view = history.add(peers.ask(), System.currentTimeMillis());
            if (page != null) {
                page.show(view);
            }
            if (once) {
                report.print(report.isJson() ? view.toMap() : text(view, false));
                return view.ranks().isEmpty() ? ExitCode.FAILURE : ExitCode.SUCCESS;
            }
            boolean read = report.isJson() ? report.printLine(view.toMap()) : show(view, isScreen);
            if (!read) {
                return ExitCode.FAILURE;
            }
            try {
                Thread.sleep(Math.round(1000 * everySeconds));
            } catch (InterruptedException _) {
                return ExitCode.INTERRUPTED;
            }
        }
    }

    private boolean show(RunView view, boolean isScreen) {
        return report.printLine(text(view, isScreen));
    }

    /** On a screen, over what was there. */
    private static String text(RunView view, boolean isScreen) {
        List<String> lines = RunText.of(view, COLUMNS, isScreen ? ROWS - 1 : Integer.MAX_VALUE);
        return isScreen ? HOME + String.join(ERASE_LINE + "\n", lines) + ERASE_LINE + ERASE_BELOW
                : String.join("\n", lines) + "\n";
    }
}
