// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.Location;
import io.penstock.store.Inspection;
import io.penstock.store.Store;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "inspect",
        description = "Shows a store's format, and the dtype and shape of its arrays.",
        footer = {"",
            "With --json it prints one object, or an array of objects for several paths. A digest covers an array's"
                + " elements in row-major order, little-endian, however the store holds them."})
final class InspectCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "PATH",
            description = "Stores, each given by its folder or by one of its files.")
    private List<String> names;

    @Option(names = "--digest", description = "Read everything and print the SHA-256 of each array.")
    private boolean digest;

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException {
        List<Inspection> inspections = new ArrayList<>();
        try (ProgressBar bar = report.progressBar("digest", "B")) {
            for (Location store : storeOptions.locate(names)) {
                inspections.add(inspect(store, bar));
            }
        }
        if (report.isJson()) {
            List<?> objects = inspections.stream().map(Inspection::toMap).toList();
            report.print(objects.size() == 1 ? objects.getFirst() : objects);
        } else {
            report.print(inspections.stream().map(InspectCommand::text).collect(Collectors.joining("\n")));
        }
        return ExitCode.SUCCESS;
    }

    private Inspection inspect(Location path, ProgressBar bar) throws IOException {
        try (Store store = storeOptions.open(path)) {
            return Inspection.of(path, store,
                    digest ? Inspection.Depth.CONTENT : Inspection.Depth.STRUCTURE, bar::update);
        }
    }

    static String text(Inspection inspection) {
        StringBuilder text = new StringBuilder();
        text.append(inspection.path()).append(": ").append(inspection.kind()).append('\n');
        DetailText.append(text, inspection.details());
        if (inspection.arrays() == null) {
            return text.toString();
        }
        for (Inspection.Array array : inspection.arrays()) {
            text.append("  ").append(array.name().isEmpty() ? "array" : array.name()).append(": ").append(array.dtype())
                    .append(' ').append(array.shape()).append(", ").append(NumberText.of(array.byteSize(), "B"));
            if (!isAsInMemory(array)) {
                text.append(", stored as ").append(array.storedDtype())
                        .append(array.storedOrder() == null ? "" : " in order " + array.storedOrder());
            }
            if (array.max() != null) {
                text.append(", largest token ").append(array.max());
            }
            if (array.sha256() != null) {
                text.append("\n    sha256 ").append(array.sha256());
            }
            text.append('\n');
        }
        return text.toString();
    }

    private static boolean isAsInMemory(Inspection.Array array) {
        return !array.storedDtype().startsWith(">") && !"F".equals(array.storedOrder());
    }
}
