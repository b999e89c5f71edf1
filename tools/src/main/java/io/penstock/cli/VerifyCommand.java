// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.Location;
import io.penstock.store.integrity.Verification;
import io.penstock.store.integrity.Verification.CheckedFile;
import io.penstock.store.integrity.Verification.Fault;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "verify",
        description = "Checks the structure and all checksums of stores.",
        footer = {"",
            "It checks the block checksums in FILE.crc32c (written by 'penstock checksum'), a SHA-256 in X.sha256,"
                + " FILE.sha256 or SHA256SUMS, and the format's own checksums. It decodes compressed data, but no"
                + " images, sound or video. The exit status is 3 if anything is wrong. With --json it prints one"
                + " object, or an array of objects for several paths."})
final class VerifyCommand implements Callable<Integer> {

    /** Formats whose values are files, such as images, that a decoder of the loader reads. */
    private static final Set<String> OF_FILES = Set.of("files", "webdataset");

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "PATH",
            description = "Stores, each given by its folder or by one of its files; or any files or folders with"
                    + " checksums.")
    private List<String> names;

    @Option(names = "--threads", paramLabel = "N", description = "Reading threads; default: one per processor.")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException, InterruptedException {
        UsageException.requireAtLeast(1, "--threads", threads);
        List<Verification> results = new ArrayList<>();
        try (ProgressBar bar = report.progressBar("verify", "B")) {
            for (Location store : storeOptions.locate(names)) {
                results.add(Verification.run(store, storeOptions.options(), threads, bar::update));
            }
        }
        if (report.isJson()) {
            List<?> objects = results.stream().map(Verification::toMap).toList();
            report.print(objects.size() == 1 ? objects.getFirst() : objects);
        } else {
            report.print(results.stream().map(VerifyCommand::text).collect(Collectors.joining("\n")));
        }
        return results.stream().allMatch(Verification::isGood) ? ExitCode.SUCCESS : ExitCode.BAD_INPUT;
    }

    private static String text(Verification result) {
        StringBuilder text = new StringBuilder();
        text.append(result.path()).append(": ").append(result.isGood() ? "good" : "BAD").append(", ")
                .append(NumberText.of(result.bytes(), "B")).append('\n');
        for (CheckedFile file : result.files()) {
            text.append("  ").append(file.file()).append(": ").append(String.join(", ", file.checks()))
                    .append(file.hasChecksum() ? "" : " only (no checksums)").append('\n');
        }
        if (OF_FILES.contains(String.valueOf(result.kind())) && result.files().stream()
                .anyMatch(file -> file.checks().contains("content"))) {
            text.append("  content: all files were read; images, sound and video in them were not decoded\n");
        }
        for (Fault fault : result.faults()) {
            text.append("  ").append(fault.check()).append(": ").append(fault.message()).append('\n');
        }
        return text.toString();
    }
}
