// SPDX-License-Identifier: Apache-2.0
package io.penstock.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The order and the titles of the pages, as the file {@code pages.txt} lists them: a line that is not indented begins a
 * group, an indented one is the path of a page and its title.
 */
record Navigation(List<Group> groups) {

    /** Pages of one kind. */
    record Group(String title, List<Entry> entries) {
    }

    /** A page: its path below the top folder, with {@code /} between folders, and its title. */
    record Entry(String path, String title) {
    }

    static Navigation read(Path file) throws IOException {
        List<Group> groups = new ArrayList<>();
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] words = line.strip().split(" +", 2);
            if (!line.startsWith(" ")) {
                groups.add(new Group(line.strip(), new ArrayList<>()));
            } else if (groups.isEmpty() || words.length < 2) {
                throw new IOException(file + ":" + (i + 1) + ": found '" + line + "', expected a path and a title"
                        + " below the title of a group");
            } else {
                groups.getLast().entries().add(new Entry(words[0], words[1]));
            }
        }
        return new Navigation(groups);
    }

    List<Entry> entries() {
        return groups.stream().flatMap(group -> group.entries().stream()).toList();
    }
}
