// SPDX-License-Identifier: Apache-2.0
package io.penstock.site;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.Image;
import org.commonmark.node.IndentedCodeBlock;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.renderer.NodeRenderer;
import org.commonmark.renderer.html.HtmlNodeRendererContext;
import org.commonmark.renderer.html.HtmlRenderer;

/** The text of a page as HTML, with its links checked and led to the pages of the site. */
final class Content {

    private final Map<String, Page> pages;
    private final Predicate<String> isFile;
    private final List<String> faults = new ArrayList<>();
    private final Set<String> images = new TreeSet<>();
    private final Set<String> files = new TreeSet<>();

    /** Over all pages, by their paths; {@code isFile} tells whether a path below the top folder is that of a file. */
    Content(Map<String, Page> pages, Predicate<String> isFile) {
        this.pages = pages;
        this.isFile = isFile;
    }

    /** What was wrong in the pages so far, one line each. */
    List<String> faults() {
        return faults;
    }

    /** The images that the pages so far show. */
    Set<String> images() {
        return images;
    }

    /** The other files that the pages so far link to, such as sources. */
    Set<String> files() {
        return files;
    }

    String html(Page page) {
        page.tree().accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                link.setDestination(target(page, link.getDestination(), link, files));
                visitChildren(link);
            }

            @Override
            public void visit(Image image) {
                image.setDestination(target(page, image.getDestination(), image, images));
                visitChildren(image);
            }

            @Override
            public void visit(HtmlBlock html) {
                if (html.getLiteral().startsWith("<!--")) {     // for tests and scripts, not for readers
                    html.unlink();
                }
            }
        });
        HtmlRenderer renderer = HtmlRenderer.builder().extensions(List.of(TablesExtension.create()))
                .attributeProviderFactory(_ -> (node, _, attributes) -> {
                    if (node instanceof Heading heading) {
                        attributes.put("id", page.anchor(heading));
                    }
                }).nodeRendererFactory(CodeBlocks::new).build();
        return renderer.render(page.tree()).replace("<table>", "<div class=\"wide\"><table>")
                .replace("</table>", "</table></div>");
    }

    /** Where a link leads to from the page's place in the site; a fault if that is nowhere. */
    private String target(Page page, String link, Node node, Set<String> linked) {
        if (link.matches("[a-z]+:.*")) {
            return link;
        }
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        String anchor = hash < 0 ? "" : link.substring(hash + 1);
        String path = file.isEmpty() ? page.path() : resolve(page.path(), file);
        Page to = pages.get(path.isEmpty() || path.endsWith("/") ? path + "README.md" : path);
        if (to == null && isFile.test(path) && !path.endsWith(".md") && anchor.isEmpty()) {
            linked.add(path);
            return relative(page.url(), linked == images ? path : fileUrl(path));
        }
        int line = node.getSourceSpans().isEmpty() ? 0 : node.getSourceSpans().getFirst().getLineIndex() + 1;
        if (to == null) {
            faults.add(page.path() + ":" + line + ": no page " + path);
            return link;
        }
        if (!anchor.isEmpty() && !to.hasAnchor(anchor)) {
            faults.add(page.path() + ":" + line + ": no heading " + anchor + " in " + to.path());
        }
        String url = to == page ? "" : relative(page.url(), to.url());
        return url + (hash < 0 ? "" : "#" + anchor);
    }

    /** Sources and other texts are pages of their own, since a browser would ask where to save them. */
    static String fileUrl(String path) {
        return path + ".html";
    }

    /** The path of a file that a document names, below the top folder. */
    static String resolve(String from, String file) {
        List<String> parts = new ArrayList<>(List.of(from.split("/")));
        parts.removeLast();
        for (String part : file.split("/")) {
            if (part.equals("..") && !parts.isEmpty()) {
                parts.removeLast();
            } else if (!part.equals(".")) {
                parts.add(part);
            }
        }
        return String.join("/", parts) + (file.endsWith("/") && !parts.isEmpty() ? "/" : "");
    }

    /** A link from one place of the site to another. */
    static String relative(String from, String to) {
        String[] a = from.split("/");
        String[] b = to.split("/");
        int same = 0;
        while (same < a.length - 1 && same < b.length - 1 && a[same].equals(b[same])) {
            same++;
        }
        return "../".repeat(a.length - 1 - same) + String.join("/", List.of(b).subList(same, b.length));
    }

    /** Writes blocks of code with their words marked. */
    private record CodeBlocks(HtmlNodeRendererContext context) implements NodeRenderer {

        @Override
        public Set<Class<? extends Node>> getNodeTypes() {
            return Set.of(FencedCodeBlock.class, IndentedCodeBlock.class);
        }

        @Override
        public void render(Node node) {
            String code;
            String language;
            if (node instanceof FencedCodeBlock block) {
                code = block.getLiteral();
                language = block.getInfo() == null ? "" : block.getInfo().split(" ", 2)[0];
            } else {
                code = ((IndentedCodeBlock) node).getLiteral();
                language = code.matches("(?s)(export |penstock |\\./|\\.\\./|\\$ |mvn |java |git ).*") ? "sh" : "";
            }
            context.getWriter().line();
            context.getWriter().raw("<div class=\"code\"><pre><code>" + Highlight.html(code, language)
                    + "</code></pre></div>");
            context.getWriter().line();
        }
    }
}
