// SPDX-License-Identifier: Apache-2.0
package io.penstock.site;

import static io.penstock.site.Content.relative;
import static io.penstock.site.Highlight.escape;

import java.util.List;

/** What stands around the text of every page: the head, the navigation, what is on the page, what comes next. */
record Layout(Navigation navigation, boolean hasApi) {

    private static final String SHELL = """
            <!doctype html>
            <html lang="en" data-root="${root}">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>${title} - Penstock</title>
            <link rel="stylesheet" href="${root}site.css">
            <script src="${root}site.js"></script>
            </head>
            <body>
            <a class="skip" href="#main">To the text</a>
            <header>
            <label class="menu" for="menu" aria-label="Menu">&#9776;</label>
            <a class="brand" href="${root}index.html">Penstock</a>
            <div class="search" role="search">
            <input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off">
            <ol id="found" hidden></ol>
            </div>
            <button id="theme" type="button" aria-label="Light or dark">&#9680;</button>
            </header>
            <input type="checkbox" id="menu" aria-hidden="true" tabindex="-1">
            <div class="columns">
            <nav class="pages" aria-label="Pages">
            ${pages}</nav>
            <main id="main">
            ${text}
            ${next}</main>
            ${contents}</div>
            </body>
            </html>
            """;

    /** A page of the navigation. */
    String page(Page page, String text) {
        return shell(page.url(), page.title(), text, contents(page.sections()), next(page));
    }

    /** A page that the navigation does not list. */
    String page(String url, String title, String text) {
        return shell(url, title, text, "", "");
    }

    private String shell(String url, String title, String text, String contents, String next) {
        return SHELL.replace("${root}", "../".repeat(url.split("/").length - 1)).replace("${title}", escape(title))
                .replace("${pages}", pages(url)).replace("${contents}", contents).replace("${next}", next)
                .replace("${text}", text.strip());
    }

    private String pages(String url) {
        StringBuilder html = new StringBuilder();
        for (int i = 0; i < navigation.groups().size(); i++) {
            Navigation.Group group = navigation.groups().get(i);
            boolean isHere = group.entries().stream().anyMatch(entry -> Page.url(entry.path()).equals(url));
            html.append("<details").append(isHere || i < 2 ? " open" : "").append("><summary>")
                    .append(escape(group.title())).append("</summary><ul>\n");
            for (Navigation.Entry entry : group.entries()) {
                html.append(item(url, Page.url(entry.path()), entry.title()));
            }
            html.append("</ul></details>\n");
        }
        if (hasApi) {
            html.append("<ul class=\"api\">\n").append(item(url, "api/index.html", "Javadoc")).append("</ul>\n");
        }
        return html.toString();
    }

    private static String item(String url, String to, String title) {
        return "<li><a href=\"" + relative(url, to) + "\"" + (to.equals(url) ? " aria-current=\"page\"" : "") + ">"
                + escape(title) + "</a></li>\n";
    }

    private static String contents(List<Page.Section> sections) {
        List<Page.Section> shown = sections.stream().filter(section -> section.level() == 2 || section.level() == 3)
                .toList();
        if (shown.size() < 3) {
            return "";
        }
        StringBuilder html = new StringBuilder("<aside aria-label=\"On this page\"><p>On this page</p><ul>\n");
        for (Page.Section section : shown) {
            html.append("<li class=\"h").append(section.level()).append("\"><a href=\"#").append(section.anchor())
                    .append("\">").append(escape(section.title())).append("</a></li>\n");
        }
        return html.append("</ul></aside>\n").toString();
    }

    private String next(Page page) {
        List<Navigation.Entry> all = navigation.entries();
        int here = all.stream().map(Navigation.Entry::path).toList().indexOf(page.path());
        String before = here == 0 ? "<span></span>" : link(page, all.get(here - 1), "&larr; %s");
        return "<footer>" + before + (here + 1 == all.size() ? "" : link(page, all.get(here + 1), "%s &rarr;"))
                + "</footer>\n";
    }

    private static String link(Page page, Navigation.Entry entry, String text) {
        return "<a href=\"" + relative(page.url(), Page.url(entry.path())) + "\">"
                + text.replace("%s", escape(entry.title())) + "</a>";
    }
}
