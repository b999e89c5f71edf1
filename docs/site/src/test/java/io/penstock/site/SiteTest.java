// SPDX-License-Identifier: Apache-2.0
package io.penstock.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SiteTest {

    @TempDir
    Path top;

    private Path out;

    @BeforeEach
    void write() throws IOException {
        out = top.resolve("target/site");
        put("docs/site/pages.txt", "# a note\nStart\n    README.md  Name\nMore\n    docs/a.md  Page A\n");
        put("README.md", """
                # Name

                [a](docs/a.md#second--part) [there](docs/a.md) [out](https://example.org/) [source](src/A.java)

                ![picture](docs/images/p.svg)

                <!-- run by a script -->
                ```java
                int one = 1;    // "x" < 2
                ```
                """);
        put("docs/a.md", "# A\n\n[up](../README.md)\n\n## Second & *part*\n\n| a | b |\n|---|---|\n| `x` | 2 |\n");
        put("docs/images/p.svg", "<svg/>");
        put("src/A.java", "class A {\n}\n");
        put("src/ignored.md", "# Not a document\n");
    }

    private void put(String path, String text) throws IOException {
        Path file = top.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private String read(String path) throws IOException {
        return Files.readString(out.resolve(path));
    }

    @Test
    void linksLeadToPagesAndAnchorsOfTheSite() throws IOException {
        assertEquals(List.of(), new Site(top, out).build());
        String home = read("index.html");
        assertTrue(home.contains("<a href=\"docs/a.html#second--part\">a</a> <a href=\"docs/a.html\">there</a>"
                + " <a href=\"https://example.org/\">out</a> <a href=\"src/A.java.html\">source</a>"), home);
        assertTrue(home.contains("<img src=\"docs/images/p.svg\" alt=\"picture\""), home);
        assertTrue(home.contains("<span class=\"key\">int</span> one = <span class=\"num\">1</span>;    "
                + "<span class=\"com\">// &quot;x&quot; &lt; 2</span>"), home);
        assertFalse(home.contains("run by a script"), home);
        String page = read("docs/a.html");
        assertTrue(page.contains("<h2 id=\"second--part\">") && page.contains("<a href=\"../index.html\">up</a>")
                && page.contains("<a href=\"a.html\" aria-current=\"page\">Page A</a>"), page);
        assertEquals("<svg/>", read("docs/images/p.svg"));
        assertTrue(read("src/A.java.html").contains("<span class=\"key\">class</span> A {"));
        assertTrue(read("search-index.js").contains("[\"docs/a.html\",\"second--part\",\"Page A\",\"Second & part\","
                + "\"a b x 2\"]"), read("search-index.js"));
    }

    @Test
    void everyFaultIsNamedWithItsPlace() throws IOException {
        put("docs/a.md", "# A\n\n[x](none.md) [y](../README.md#none)\n\n![p](images/none.svg) [j](../src/B.java)\n");
        put("docs/new.md", "# New\n");
        put("docs/site/pages.txt", "Start\n    README.md  Name\n    docs/a.md  A\n    docs/gone.md  Gone\n");
        assertEquals(List.of("docs/site/pages.txt: no document docs/gone.md, or a second time",
                "docs/new.md: not in docs/site/pages.txt",
                "README.md:3: no heading second--part in docs/a.md",
                "docs/a.md:3: no page docs/none.md",
                "docs/a.md:3: no heading none in README.md",
                "docs/a.md:5: no page docs/images/none.svg",
                "docs/a.md:5: no page src/B.java"), new Site(top, out).build());
    }

    @Test
    void javadocThatIsBuiltIsThere() throws IOException {
        new Site(top, out).build();
        assertFalse(read("index.html").contains("Javadoc"));
        put("target/reports/apidocs/index.html", "the engine");
        put("remote/target/reports/apidocs/x/y.html", "the wing");
        put("remote/target/reports/apidocs/index.html", "the wing");
        assertEquals(List.of(), new Site(top, out).build());
        assertTrue(read("docs/a.html").contains("<a href=\"../api/index.html\">Javadoc</a>"));
        assertTrue(read("api/index.html").contains("<a href=\"remote/index.html\">remote</a>"));
        assertEquals("the engine", read("api/engine/index.html"));
        assertEquals("the wing", read("api/remote/x/y.html"));
    }

    @Test
    void theSameDocumentsGiveTheSameBytesAndNothingOldRemains() throws IOException {
        new Site(top, out).build();
        List<String> first = all();
        put("target/site/old.html", "of a page that is no more");
        new Site(top, out).build();
        assertEquals(first, all());
    }

    private List<String> all() throws IOException {
        List<String> all = new ArrayList<>();
        try (Stream<Path> files = Files.walk(out)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                all.add(out.relativize(file) + "\n" + Files.readString(file));
            }
        }
        return all;
    }
}
