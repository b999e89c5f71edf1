// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.format.manifest.Manifest;
import io.penstock.format.manifest.ManifestPart;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.publish.Folder;
import io.penstock.json.Json;
import io.penstock.store.IfExists;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code penstock manifest}. */
@Command(
        name = "manifest",
        description = "Joins parts of a token store, which several machines wrote, to one store.",
        footer = {"", "Example: penstock manifest out/corpus-*-of-00016.idx -o out/corpus",
            "", "The manifest names the parts; no token is read or copied. Every command takes it as a token store,"
                + " with windows that cross the parts. Parts that 'penstock tokenize --shard' made are put in order,"
                + " and all of them must be there. 'penstock merge' makes one pair of files of it."})
final class ManifestCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(arity = "1..*", paramLabel = "PART",
            description = "The parts, each given by its path without an ending or by its .idx, .bin or .part.json.")
    private List<Path> parts;

    @Option(names = {"-o", "--output"}, required = true, paramLabel = "STORE",
            description = "Store to write: STORE.manifest.json. The parts are in its folder or below it.")
    @SuppressWarnings("NullAway.Init")
    private Path output;

    @Option(names = "--force", description = "Replace an existing manifest.")
    private boolean force;

    @Override
    public Integer call() throws IOException {
        Path file = output.getFileName().toString().endsWith(Manifest.ENDING) ? output
                : output.resolveSibling(output.getFileName() + Manifest.ENDING);
        Path folder = Folder.of(file).toRealPath();
        // A glob may give several files of a part.
        Set<ManifestPart> found = new LinkedHashSet<>();
        for (Path part : parts) {
            found.add(ManifestPart.read(part).in(inside(folder, part)));
        }
        Manifest manifest;
        try {
            manifest = Manifest.of(new ArrayList<>(found));
        } catch (IllegalArgumentException e) {
            throw new MalformedStoreException(file, e);
        }
        manifest.write(file, force ? IfExists.REPLACE : IfExists.FAIL);
        if (report.isJson()) {
            report.print(Json.members("store", file.toString(), "dtype", manifest.dtype().toString(), "tokenizer",
                    manifest.origin().tokenizer(), "parts", manifest.parts().size(), "documents",
                    manifest.documents(), "tokens", manifest.tokens()));
        } else {
            report.print(file + ": " + NumberText.count(manifest.tokens(), "token") + " of " + manifest.dtype() + " in "
                    + NumberText.count(manifest.documents(), "document") + " and "
                    + NumberText.count(manifest.parts().size(), "part") + " (" + manifest.origin().tokenizer() + ")\n");
        }
        return ExitCode.SUCCESS;
    }

    /** The folder of a part, relative to that of the manifest. */
    private static String inside(Path folder, Path part) throws IOException {
        Path own = Folder.of(part).toRealPath();
        if (!own.startsWith(folder)) {
            throw new MalformedStoreException(part, "a part in " + own, "one in " + folder
                    + ", the folder of the manifest, or below it");
        }
        return folder.relativize(own).toString().replace('\\', '/');
    }
}
