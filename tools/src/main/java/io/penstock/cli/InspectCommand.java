// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.chat.ConversationForm;
import io.penstock.chat.ConversationForm.Shape;
import io.penstock.io.Location;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.text.NumberText;
import io.penstock.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
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

    private static final Set<Shape> ANSWERS = EnumSet.of(Shape.PREFERENCE, Shape.RANKED);

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
        List<Optional<ConversationForm>> chats = new ArrayList<>();
        try (ProgressBar bar = report.progressBar("digest", "B")) {
            for (Location store : storeOptions.locate(names)) {
                inspections.add(inspect(store, bar, chats));
            }
        }
        if (report.isJson()) {
            List<?> objects = IntStream.range(0, chats.size()).mapToObj(i -> map(inspections.get(i), chats.get(i)))
                    .toList();
            report.print(objects.size() == 1 ? objects.getFirst() : objects);
        } else {
            report.print(IntStream.range(0, chats.size()).mapToObj(i -> text(inspections.get(i))
                    + advice(inspections.get(i), chats.get(i))).collect(Collectors.joining("\n")));
        }
        return ExitCode.SUCCESS;
    }

    private Inspection inspect(Location path, ProgressBar bar, List<Optional<ConversationForm>> chats)
            throws IOException {
        try (Store store = storeOptions.open(path)) {
            Inspection inspection = Inspection.of(path, store,
                    digest ? Inspection.Depth.CONTENT : Inspection.Depth.STRUCTURE, bar::update);
            chats.add(form(store));
            return inspection;
        }
    }

    /** How the records of a table hold conversations, by the names of its columns; empty if they hold none. */
    private static Optional<ConversationForm> form(Store store) {
        if (!(store instanceof RecordStore records)) {
            return Optional.empty();
        }
        Map<String, String> columns = records.columns().stream().map(Column::name)
                .collect(Collectors.toMap(name -> name, name -> name, (name, _) -> name));
        try {
            return Optional.of(ConversationForm.detect(columns));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private static Map<String, @Nullable Object> map(Inspection inspection, Optional<ConversationForm> chat) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>(inspection.toMap());
        chat.ifPresent(form -> map.put("conversations", form.kind().toString()));
        return map;
    }

    private static String advice(Inspection inspection, Optional<ConversationForm> chat) {
        return chat.map(form -> "  conversations: columns of the form " + form.kind() + "; penstock tokenize --chat "
                + ShellText.quoted(inspection.path()) + (ANSWERS.contains(form.kind()) ? " --preferences" : "")
                + " --template MODEL -o OUT\n").orElse("");
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
