// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.convert.Conversion;
import io.penstock.convert.ConversionSummary;
import io.penstock.json.Json;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.TokenStore;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "merge",
        description = "Copies the parts of a manifest into one pair of files.",
        footer = {"", "Example: penstock merge out/corpus.manifest.json -o corpus",
            "", "The pair has the bytes that 'penstock tokenize' without --shard writes. Training does not need it:"
                + " every command takes the manifest itself."})
final class MergeCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(index = "0", paramLabel = "MANIFEST", description = "STORE.manifest.json, or STORE.")
    private String manifest;

    @Option(names = {"-o", "--output"}, required = true, paramLabel = "STORE",
            description = "Store to write, without a suffix; also s3://BUCKET/KEY.")
    @SuppressWarnings("NullAway.Init")
    private String output;

    @Option(names = "--force", description = "Replace an existing store.")
    private boolean force;

    @Mixin
    private RemoteOptions remote;

    @Override
    public Integer call() throws IOException, InterruptedException {
        IfExists ifExists = force ? IfExists.REPLACE : IfExists.FAIL;
        ConversionSummary summary;
        try (Target target = Target.of(output, remote, ifExists).inFolder();
                TokenStore store = TokenStore.open(remote.locate(manifest),
                        OpenOptions.DEFAULT.withFormat("manifest"));
                ProgressBar bar = report.progressBar("merge", "B")) {
            target.requireAbsent(".bin", ".idx");
            summary = new Conversion(store, target.path(), "megatron").ifExists(ifExists)
                    .progress(bar::update).checksumProgress((done, total) -> bar.update("checksum", done, total)).run();
            target.publish(bar);
        }
        if (report.isJson()) {
            report.print(Json.members("source", manifest, "store", output,
                    "documents", summary.records(), "bytes", summary.bytes(), "seconds", summary.nanos() / 1e9,
                    "bytes_per_second", summary.bytesPerSecond()));
        } else {
            report.print(String.format(Locale.ROOT, "%s: %s, %s%nmerged in %.2f s: %s%n", output,
                    NumberText.count(summary.records(), "document"), NumberText.of(summary.bytes(), "B"),
                    summary.nanos() / 1e9, NumberText.of(summary.bytesPerSecond(), "B/s")));
        }
        return ExitCode.SUCCESS;
    }
}
