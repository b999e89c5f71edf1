// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import io.penstock.io.publish.Folder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A writer and a folder. In the folder is nothing of the writer, or its first generation, and it writes its second one;
 * or what a writer that was stopped left there, and it writes its first one.
 */
final class Scene {

    private static final int OLD = 1;
    private static final int NEW = 2;
    private static final String BYSTANDER = "notes.txt";

    private final Writer writer;
    private final String name;
    private final int generation;
    private final boolean replacing;
    private final Path folder;
    private final Tree before;
    private final Tree after;
    private final Map<String, String> old;
    private final Map<String, String> next;

    /**
     * A folder with nothing of a writer, or its first generation.
     *
     * @param folder what is to be its folder
     * @param replacing whether the first generation is there
     */
    static Scene of(Writer writer, boolean replacing, Path folder) throws Exception {
        Folder.delete(folder);
        Files.createDirectories(folder);
        Files.writeString(folder.resolve(BYSTANDER), "not of the writer\n");
        if (replacing) {
            writer.setup().prepare(folder, OLD);
            writer.write().write(folder, OLD, false);
        }
        Scene scene = new Scene(writer, writer.name() + (replacing ? ", replacing" : ", new"), NEW, folder);
        if (writer.promise() != Writer.Promise.NOTHING
                && (scene.replacing != replacing || scene.old.equals(scene.next))) {
            throw new IllegalStateException(scene + ": nothing to tell: " + scene.old + " became " + scene.next);
        }
        return scene;
    }

    /** What a writer that was stopped in this scene left, as the scene of the next. */
    Scene behind(Tree left) throws Exception {
        left.restore(folder);
        return new Scene(writer, name, OLD, folder);
    }

    /** Runs the writer undisturbed, in its folder as it is. */
    private Scene(Writer writer, String name, int generation, Path folder) throws Exception {
        this.writer = writer;
        this.name = name;
        this.generation = generation;
        this.folder = folder;
        writer.setup().prepare(folder, generation);
        before = Tree.of(folder);
        old = writer.read().read(folder);
        replacing = !old.isEmpty();
        write();
        next = writer.read().read(folder);
        after = Tree.of(folder);
    }

    Writer writer() {
        return writer;
    }

    boolean replacing() {
        return replacing;
    }

    Path folder() {
        return folder;
    }

    Tree before() {
        return before;
    }

    /** Puts the folder back to what it was before. */
    void reset() throws IOException {
        before.restore(folder);
    }

    /** Writes. */
    void write() throws Exception {
        writer.write().write(folder, generation, replacing);
    }

    /**
     * Opens what is in the folder.
     *
     * @param done whether the writer has said that it is there, and promises that it still is
     * @return what is wrong; null if all is as it was, or as it is to be
     */
    String check(boolean done) {
        Map<String, String> now;
        try {
            now = writer.read().read(folder);
        } catch (IOException | RuntimeException e) {
            return "does not open: " + e;
        }
        TreeSet<String> parts = new TreeSet<>(old.keySet());
        parts.addAll(next.keySet());
        parts.addAll(now.keySet());
        for (String part : parts) {
            String found = now.get(part);
            if (!Objects.equals(found, next.get(part)) && (done || !Objects.equals(found, old.get(part)))) {
                return part + (found == null ? " is gone" : done ? " was said to be written, and is not"
                        : " is neither what it was nor what it is to be");
            }
        }
        return null;
    }

    /**
     * Writes, undisturbed, into the folder as it is, without leave to replace where nothing is.
     *
     * @return what is wrong; null if the folder then has what it has after a run that was never disturbed
     */
    String again() throws IOException {
        try {
            writer.write().write(folder, generation, replacing || !writer.read().read(folder).isEmpty());
        } catch (Exception e) {
            return "the next run fails: " + e;
        }
        String wrong = check(true);
        if (wrong != null) {
            return "after the next run: " + wrong;
        }
        TreeMap<String, Tree.Entry> found = Tree.of(folder).entries();
        TreeMap<String, Tree.Entry> expected = after.entries();
        if (!found.keySet().equals(expected.keySet())) {
            return "after the next run there is " + found.keySet() + ", expected " + expected.keySet();
        }
        for (Map.Entry<String, Tree.Entry> each : expected.entrySet()) {
            // An index says when its shard was written.
            if (each.getValue() != null && !each.getKey().endsWith(".penstock-index")
                    && !Arrays.equals(each.getValue().bytes(), found.get(each.getKey()).bytes())) {
                return "after the next run " + each.getKey() + " has other bytes than it has undisturbed";
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return name;
    }
}
