// SPDX-License-Identifier: Apache-2.0
package io.penstock.site;

import static io.penstock.site.Highlight.escape;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes a site of plain HTML of the project's documents. It fails, and names each fault with its place, if a link leads
 * nowhere or if {@code docs/site/pages.txt} and the documents are not the same.
 *
 * <p>The same documents give the same bytes. The site needs no server and no network.
 */
public final class Site {

    /** In these are documents for readers: the top folder without what is below it, and others. */
    private static final Set<String> FOLDERS = Set.of("", "docs", "examples", "integrations", "bench", "bindings");
    /** Folders of what is built, and of programs with their tests. */
    private static final Pattern PROGRAMS = Pattern.compile("(^|/)(target|src|node_modules)/");

    private final Path top;
    private final Path out;

    Site(Path top, Path out) {
        this.top = top;
        this.out = out;
    }

    /**
     * Makes the site.
     *
     * @param args the top folder of the project, and the folder to write to, which is replaced
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String... args) throws IOException {
        List<String> faults = new Site(Path.of(args[0]), Path.of(args[1])).build();
        faults.forEach(System.err::println);
        if (!faults.isEmpty()) {
            System.exit(1);
        }
    }

    /** Makes the site, and returns what is wrong in it, one line for each fault. */
    List<String> build() throws IOException {
        Path list = Path.of("docs", "site", "pages.txt");
        Navigation navigation = Navigation.read(top.resolve(list));
        Set<String> documents = documents();
        List<String> faults = new ArrayList<>();
        Map<String, Page> pages = new LinkedHashMap<>();
        for (Navigation.Entry entry : navigation.entries()) {
            if (!documents.remove(entry.path())) {
                faults.add(list + ": no document " + entry.path() + ", or a second time");
            } else {
                pages.put(entry.path(), new Page(entry, Files.readString(top.resolve(entry.path()))));
            }
        }
        documents.forEach(path -> faults.add(path + ": not in " + list));

        delete(out);
        Map<String, Path> api = api();
        Layout layout = new Layout(navigation, !api.isEmpty());
        Content content = new Content(pages, path -> Files.isRegularFile(top.resolve(path)));
        for (Page page : pages.values()) {
            write(page.url(), layout.page(page, content.html(page)));
        }
        for (String image : content.images()) {
            copy(top.resolve(image), out.resolve(image));
        }
        for (String file : content.files()) {
            String ending = file.substring(file.lastIndexOf('.') + 1);
            write(Content.fileUrl(file), layout.page(Content.fileUrl(file), file, "<h1>" + escape(file)
                    + "</h1>\n<div class=\"code\"><pre><code>"
                    + Highlight.html(Files.readString(top.resolve(file)), ending) + "</code></pre></div>"));
        }
        if (!api.isEmpty()) {
            writeApi(api, layout);
        }
        write("search-index.js", index(pages.values().stream().toList()));
        for (String name : List.of("site.css", "site.js")) {
            try (InputStream in = Objects.requireNonNull(Site.class.getResourceAsStream(name), name)) {
                Files.copy(in, out.resolve(name));
            }
        }
        faults.addAll(content.faults());
        return faults;
    }

    /** The paths of all documents that the site must show. */
    private Set<String> documents() throws IOException {
        Set<String> documents = new TreeSet<>();
        for (String folder : FOLDERS) {
            try (Stream<Path> all = Files.exists(top.resolve(folder)) ? Files.walk(top.resolve(folder),
                    folder.isEmpty() ? 1 : Integer.MAX_VALUE) : Stream.empty()) {
                all.map(file -> top.relativize(file).toString().replace('\\', '/'))
                        .filter(path -> path.endsWith(".md") && !PROGRAMS.matcher(path).find()).forEach(documents::add);
            }
        }
        return documents;
    }

    /** The folders of Javadoc that the build of the modules has left, by the names of the modules' folders. */
    private Map<String, Path> api() throws IOException {
        List<Path> modules = new ArrayList<>(List.of(top));
        for (Path folder : List.of(top, top.resolve("integrations"))) {
            try (Stream<Path> below = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
                below.forEach(modules::add);
            }
        }
        Map<String, Path> found = new TreeMap<>();
        for (Path module : modules) {
            if (Files.exists(module.resolve("target/reports/apidocs/index.html"))) {
                found.put(module.equals(top) ? "engine" : String.valueOf(module.getFileName()),
                        module.resolve("target/reports/apidocs"));
            }
        }
        return found;
    }

    private void writeApi(Map<String, Path> api, Layout layout) throws IOException {
        StringBuilder text = new StringBuilder("<h1>Javadoc</h1>\n<ul>\n");
        for (Map.Entry<String, Path> module : api.entrySet()) {
            text.append("<li><a href=\"").append(module.getKey()).append("/index.html\">").append(module.getKey())
                    .append("</a></li>\n");
            try (Stream<Path> files = Files.walk(module.getValue())) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    copy(file, out.resolve("api").resolve(module.getKey())
                            .resolve(module.getValue().relativize(file).toString()));
                }
            }
        }
        write("api/index.html", layout.page("api/index.html", "Javadoc", text + "</ul>"));
    }

    /** A script with the words of all sections: a page that is opened from a file cannot fetch data, only scripts. */
    private static String index(List<Page> pages) {
        StringBuilder script = new StringBuilder("penstockIndex = [\n");
        for (Page page : pages) {
            for (Page.Section section : page.sections()) {
                if (!section.anchor().isEmpty() || !section.text().isEmpty()) {
                    boolean isWhole = section.level() == 1;
                    script.append(Stream.of(page.url(), isWhole ? "" : section.anchor(), page.title(),
                            isWhole ? page.title() : section.title(),
                            (isWhole ? section.title() + ". " : "") + section.text().toString().strip())
                            .map(Site::quoted).collect(Collectors.joining(",", "[", "],\n")));
                }
            }
        }
        return script.append("];\n").toString();
    }

    /** As a string of a script. Line feeds are blanks by now. */
    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private void write(String url, String text) throws IOException {
        Path file = out.resolve(url);
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        Files.writeString(file, text);
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(Objects.requireNonNull(to.getParent()));
        Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
