// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.json.Json;
import io.penstock.remote.RemoteSettings;
import io.penstock.remote.cache.BlockCache;
import io.penstock.text.ByteText;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "cache",
        description = "Lists, checks and trims the cache of remote files. Other processes may use it meanwhile.",
        subcommands = {CacheCommand.Ls.class, CacheCommand.Verify.class, CacheCommand.Trim.class})
final class CacheCommand implements Callable<Integer> {

    @Mixin
    @SuppressWarnings("UnusedVariable")
    private Report report;

    @Override
    public Integer call() {
        throw new UsageException("missing command, expected ls, verify or trim");
    }

    static final class Folder {

        @Option(names = "--cache", paramLabel = "DIR",
                description = "The cache's folder; default: PENSTOCK_CACHE, or penstock in the user's cache folder.")
        private @Nullable Path folder;

        BlockCache open() throws IOException {
            Path given = folder;
            return BlockCache.existing(given != null ? given
                    : UsageException.valid(() -> RemoteSettings.fromEnvironment().cacheFolder()));
        }
    }

    @Command(name = "ls", description = "Lists the files in the cache.")
    static final class Ls implements Callable<Integer> {

        @Mixin
        private Report report;

        @Mixin
        private Folder folder;

        @Override
        public Integer call() throws IOException {
            List<BlockCache.Entry> entries = folder.open().entries();
            if (report.isJson()) {
                report.print(entries.stream().map(entry -> Json.members("name", entry.object().name(), "scope",
                        entry.object().scope(), "version", entry.object().version(), "bytes",
                        entry.object().byteSize(), "cached_bytes", entry.presentBytes(), "last_use",
                        entry.lastUse().toString())).toList());
                return ExitCode.SUCCESS;
            }
            StringBuilder text = new StringBuilder();
            long bytes = 0;
            for (BlockCache.Entry entry : entries) {
                bytes += entry.presentBytes();
                String scope = entry.object().scope();
                text.append(entry.object().name()).append(scope.isEmpty() ? "" : " (" + scope + ")").append(": ")
                        .append(ByteText.of(entry.presentBytes())).append(" of ")
                        .append(ByteText.of(entry.object().byteSize())).append(", last used ").append(entry.lastUse())
                        .append('\n');
            }
            report.print(text.append(NumberText.count(entries.size(), "file")).append(", ").append(ByteText.of(bytes))
                    .append('\n').toString());
            return ExitCode.SUCCESS;
        }
    }

    @Command(name = "verify",
            description = "Checks all blocks against their checksums and drops damaged ones, which are then fetched"
                    + " again. The exit status is 3 if there are any.")
    static final class Verify implements Callable<Integer> {

        @Mixin
        private Report report;

        @Mixin
        private Folder folder;

        @Override
        public Integer call() throws IOException {
            List<String> damaged = folder.open().verify();
            if (report.isJson()) {
                report.print(Json.members("damaged", damaged));
            } else {
                damaged.forEach(block -> report.print(block + ": damaged, dropped\n"));
                report.print(damaged.isEmpty() ? "good\n" : NumberText.count(damaged.size(), "damaged block") + "\n");
            }
            return damaged.isEmpty() ? ExitCode.SUCCESS : ExitCode.BAD_INPUT;
        }
    }

    @Command(name = "trim",
            description = "Drops the blocks that were used least recently, until SIZE is left. Blocks that a running"
                    + " process needs stay.")
    static final class Trim implements Callable<Integer> {

        @Mixin
        private Report report;

        @Mixin
        private Folder folder;

        @Option(names = "--to", paramLabel = "SIZE", converter = AmountText.Size.class, required = true,
                description = "How much may stay, for example 100G, or 0.")
        private long bytes;

        @Override
        public Integer call() throws IOException {
            long dropped = folder.open().trim(bytes);
            report.print(report.isJson() ? Json.members("dropped_bytes", dropped) : ByteText.of(dropped)
                    + " dropped\n");
            return ExitCode.SUCCESS;
        }
    }
}
