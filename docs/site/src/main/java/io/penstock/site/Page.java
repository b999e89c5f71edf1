// SPDX-License-Identifier: Apache-2.0
package io.penstock.site;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.commonmark.ext.autolink.AutolinkExtension;
import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.heading.anchor.IdGenerator;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Block;
import org.commonmark.node.Code;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.IndentedCodeBlock;
import org.commonmark.node.Node;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.IncludeSourceSpans;
import org.commonmark.parser.Parser;

/** A document: its tree, and its sections with the anchors that GitHub gives their headings. */
final class Page {

    private static final Parser PARSER = Parser.builder()
            .extensions(List.of(TablesExtension.create(), AutolinkExtension.create()))
            .includeSourceSpans(IncludeSourceSpans.BLOCKS_AND_INLINES).build();

    /** What stands between a heading and the next one. The first section of a page has the anchor of its title. */
    record Section(int level, String anchor, String title, StringBuilder text) {
    }

    private final Navigation.Entry entry;
    private final Node tree;
    private final List<Section> sections = new ArrayList<>();
    private final Map<Heading, String> anchors = new HashMap<>();

    Page(Navigation.Entry entry, String markdown) {
        this.entry = entry;
        tree = PARSER.parse(markdown);
        IdGenerator ids = IdGenerator.builder().build();
        sections.add(new Section(1, "", entry.title(), new StringBuilder()));
        for (Node node = tree.getFirstChild(); node != null; node = node.getNext()) {
            if (node instanceof Heading heading) {
                String title = text(heading);
                anchors.put(heading, ids.generateId(title));
                sections.add(new Section(heading.getLevel(), anchors.getOrDefault(heading, ""), title,
                        new StringBuilder()));
            } else {
                sections.getLast().text().append(text(node)).append(' ');
            }
        }
    }

    String path() {
        return entry.path();
    }

    String title() {
        return entry.title();
    }

    /** Its place in the site: {@code docs/guide.html}, {@code index.html} for a README. */
    String url() {
        return url(path());
    }

    static String url(String path) {
        return path.replaceFirst("(^|/)README\\.md$", "$1index.html").replaceFirst("\\.md$", ".html");
    }

    Node tree() {
        return tree;
    }

    List<Section> sections() {
        return sections;
    }

    String anchor(Heading heading) {
        return anchors.getOrDefault(heading, "");
    }

    boolean hasAnchor(String anchor) {
        return anchors.containsValue(anchor);
    }

    /** The words of a part of the tree, without marks. */
    private static String text(Node node) {
        StringBuilder text = new StringBuilder();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Text part) {
                text.append(part.getLiteral());
            }

            @Override
            public void visit(Code code) {
                text.append(code.getLiteral());
            }

            @Override
            public void visit(FencedCodeBlock code) {
                text.append(code.getLiteral()).append(' ');
            }

            @Override
            public void visit(IndentedCodeBlock code) {
                text.append(code.getLiteral()).append(' ');
            }

            @Override
            protected void visitChildren(Node parent) {
                super.visitChildren(parent);
                if (parent instanceof Block || parent instanceof TableCell || parent instanceof SoftLineBreak) {
                    text.append(' ');
                }
            }
        });
        return text.toString().strip().replaceAll("\\s+", " ");
    }
}
