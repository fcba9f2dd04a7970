//! A subject as a picture: both axes logarithmic, so that what grows with a power of the size is a straight line.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use plotters::prelude::{
    ChartBuilder, Color, IntoDrawingArea, IntoFont, IntoLogRange, LineSeries, RGBColor, SVGBackend,
    Text, WHITE,
};

use crate::series::Subject;

const SIZE: (u32, u32) = (860, 480);
/// Where the names of the lines begin.
const NAMES: i32 = 620;
/// Colours that stay apart for those who see fewer of them; each line also bears a number.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(166, 118, 29),
    RGBColor(90, 90, 90),
    RGBColor(0, 0, 0),
];

/// Draws it into a file.
pub(crate) fn draw(subject: &Subject, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut picture = String::new();
    {
        let root = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (left, right) = root.split_horizontally(NAMES);
        let points = || subject.series.iter().flat_map(|series| &series.points);
        let seconds = |cost: &Duration| cost.as_secs_f64();
        let sizes = points().map(|(size, _)| *size as f64);
        let costs = points().map(|(_, cost)| seconds(cost));
        let largest = sizes.fold(1.0, f64::max);
        let lowest = decade(costs.clone().fold(f64::INFINITY, f64::min).log10().floor());
        let highest = decade(costs.fold(0.0, f64::max).log10().ceil());
        let mut chart = ChartBuilder::on(&left)
            .caption(subject.title, ("sans-serif", 20).into_font())
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d(
                (0.8..largest * 1.25).log_scale(),
                (lowest..highest).log_scale(),
            )?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_desc(subject.items)
            .y_desc("time")
            .x_label_formatter(&|size| format!("{size:.0}"))
            .y_label_formatter(&|cost| format!("{:?}", Duration::from_secs_f64(*cost)))
            .draw()?;
        for ((number, series), colour) in (1..).zip(&subject.series).zip(COLOURS) {
            let points = series.points.iter();
            let points = points.map(|(size, cost)| (*size as f64, seconds(cost)));
            chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
            let bold = ("sans-serif", 15).into_font().color(&colour);
            chart.draw_series(
                points.map(|point| Text::new(number.to_string(), point, bold.clone())),
            )?;
            let exponent = series
                .exponent()
                .map_or_else(String::new, |exponent| format!("  ^{exponent:.2}"));
            let name = format!("{number}  {}{exponent}", series.name);
            right.draw(&Text::new(name, (4, 30 + number * 24), bold))?;
        }
        root.present()?;
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, picture)?;
    Ok(())
}

fn decade(exponent: f64) -> f64 {
    10_f64.powf(exponent)
}
