// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.Location;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.Json;
import io.penstock.remote.RemoteFiles;
import io.penstock.store.IfExists;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "checksum",
        description = "Writes a checksum per block of each file, for 'verify' and for --verify.",
        footer = {"", "The checksums of FILE go to FILE.crc32c. With --json it prints an array with one object per"
            + " file."})
final class ChecksumCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Any files, also s3://BUCKET/KEY.")
    private List<String> files;

    @Option(names = "--force", description = "Replace existing checksums.")
    private boolean force;

    @Mixin
    private RemoteOptions remote;

    @Override
    public Integer call() throws IOException {
        List<Map<String, @Nullable Object>> written = new ArrayList<>();
        try (ProgressBar bar = report.progressBar("checksum", "B")) {
            for (String name : files) {
                Location file = remote.locate(name);
                long bytes = file.info().byteSize();
                BlockChecksums checksums = write(name, file,
                        done -> bar.update("checksum " + file.name(), done, bytes));
                written.add(describe(checksums));
                if (!report.isJson()) {
                    report.print(checksums.location() + ": " + NumberText.count(checksums.blocks(), "block")
                            + " of " + checksums.blockBytes() + " bytes\n");
                }
            }
        }
        if (report.isJson()) {
            report.print(written);
        }
        return ExitCode.SUCCESS;
    }

    private BlockChecksums write(String name, Location file, LongConsumer progress) throws IOException {
        IfExists ifExists = force ? IfExists.REPLACE : IfExists.FAIL;
        if (!RemoteFiles.isRemote(name)) {
            return BlockChecksums.write(Path.of(name), ifExists, progress);
        }
        try (Target target = Target.of(name + BlockChecksums.SUFFIX, remote, ifExists)) {
            BlockChecksums checksums = BlockChecksums.compute(file, BlockChecksums.DEFAULT_BLOCK_BYTES, progress);
            AtomicFile.write(target.path(), out -> out.write(checksums.toBytes()));
            target.publish(ProgressBar.hidden());
            return checksums;
        }
    }

    private static Map<String, @Nullable Object> describe(BlockChecksums checksums) {
        return Json.members("file", checksums.file().toString(), "bytes", checksums.fileBytes(),
                "checksums", checksums.location().toString(), "block_bytes", checksums.blockBytes(),
                "blocks", checksums.blocks());
    }
}
